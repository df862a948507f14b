# The OpenAI server, and two devices; see docs/frontend/serving.md.
import json
import os
import socket
import subprocess
import sys
import textwrap
import time
import urllib.request
from contextlib import contextmanager

from patience import PATIENCE
from tiny_models import PROMPTS


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextmanager
def serving(folder, log):
    """The address of a server that is ready; it ends with the block."""
    address = ("127.0.0.1", free_port())
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
    command += ["--model", str(folder), "--served-model-name", "tiny"]
    command += ["--host", address[0], "--port", str(address[1])]
    command += ["--dtype", "float32", "--max-model-len", "128", "--max-num-seqs", "4"]
    command += ["--kv-cache-memory-bytes", str(1 << 22)]
    with log.open("w") as output:
        server = subprocess.Popen(command, stdout=output, stderr=output)
    url = f"http://{address[0]}:{address[1]}"
    try:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            assert server.poll() is None, log.read_text()
            try:
                urllib.request.urlopen(f"{url}/health").close()
                break
            except OSError:
                time.sleep(0.5)
        yield url
    finally:
        server.terminate()
        server.wait(PATIENCE)


def complete(url, **options):
    body = {"model": "tiny", "temperature": 0, "return_token_ids": True, **options}
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(
        f"{url}/v1/completions", json.dumps(body).encode(), headers
    )
    with urllib.request.urlopen(request) as answer:
        return answer.read().decode()


def test_server(models, reference, tmp_path):
    with serving(models / "llama", tmp_path / "server.log") as url:
        prompt = {"prompt": PROMPTS[0], "max_tokens": 8, "ignore_eos": True}
        (choice,) = json.loads(complete(url, **prompt))["choices"]
        stream = complete(url, **prompt, stream=True)
        with urllib.request.urlopen(f"{url}/metrics") as answer:
            metrics = answer.read().decode()
    expected = reference("llama", choice["prompt_token_ids"], 8)
    assert choice["token_ids"] == expected
    parts = [line.removeprefix("data: ") for line in stream.split("\n\n")]
    parts = [json.loads(part) for part in parts if part not in ("", "[DONE]")]
    pieces = [part["choices"][0] for part in parts]
    assert [token for piece in pieces for token in piece["token_ids"]] == expected
    assert "".join(piece["text"] for piece in pieces) == choice["text"]
    assert "vllm:request_success_total{" in metrics


TWO_DEVICES = """
    import json, sys
    from vllm import LLM, SamplingParams

    if __name__ == "__main__":  # vLLM starts its processes by spawn
        llm = LLM(sys.argv[1], tensor_parallel_size=2, dtype="float32",
                  max_model_len=128, max_num_seqs=4, kv_cache_memory_bytes=1 << 22)
        params = SamplingParams(temperature=0, max_tokens=12, ignore_eos=True)
        where = llm.collective_rpc(lambda worker: str(worker.device))
        outputs = llm.generate(json.loads(sys.argv[2]), params, use_tqdm=False)
        found = [[o.prompt_token_ids, o.outputs[0].token_ids] for o in outputs]
        print("found", json.dumps([where, found]))
"""


def test_tensor_parallel(models, reference, tmp_path):
    """Two processes with a device each, half of the heads, and occl between them."""
    program = tmp_path / "two_devices.py"
    program.write_text(textwrap.dedent(TWO_DEVICES))
    command = [sys.executable, str(program), str(models / "llama"), json.dumps(PROMPTS)]
    env = {**os.environ, "VLLM_ALLOW_INSECURE_SERIALIZATION": "1"}  # of the lambda
    done = subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    where, found = json.loads(done.stdout.rpartition("found ")[2])
    assert where == ["openreg:0", "openreg:1"]
    for ids, tokens in found:
        assert tokens == reference("llama", ids, 12)
