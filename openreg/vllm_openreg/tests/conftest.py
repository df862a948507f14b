# What the tests of the plug-in for vLLM share; see docs/frontend/serving.md.
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from forkserver import run_new

# Before vLLM is imported: no statistics to its authors, no look for models elsewhere.
os.environ.update(VLLM_NO_USAGE_STATS="1", HF_HUB_OFFLINE="1")
os.environ.update(VLLM_LOGGING_LEVEL="ERROR", TOKENIZERS_PARALLELISM="false")
HERE = Path(__file__).parent
SMALL = {
    "dtype": "float32",
    "max_model_len": 128,
    "max_num_seqs": 4,
    "block_size": 16,
    "kv_cache_memory_bytes": 1 << 22,
    "seed": 0,
}


@pytest.fixture
def no_fallback():
    """Numbers that repeat, and no operator of the test may fall back to the CPU."""
    torch.manual_seed(0)
    torch.openreg.reset_fallback_counts()
    yield
    assert not dict(torch.openreg.fallback_counts())


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """A folder with the models; a program writes them, so that none stays in memory."""
    root = tmp_path_factory.mktemp("models")
    env = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    command = [sys.executable, str(HERE / "tiny_models.py"), str(root)]
    subprocess.run(command, check=True, env=env, capture_output=True)
    return root


@pytest.fixture
def reference(models):
    """The same model of transformers on the CPU: the tokens that follow a prompt."""
    from transformers import AutoModelForCausalLM

    def follow(name: str, ids: list[int], count: int) -> list[int]:
        model = AutoModelForCausalLM.from_pretrained(models / name, dtype=torch.float32)
        with torch.no_grad():
            found = model.eval().generate(
                torch.tensor([ids]),
                do_sample=False,
                max_new_tokens=count,
                min_new_tokens=count,
                eos_token_id=None,
                pad_token_id=1,
            )
        return found[0].tolist()[len(ids) :]

    return follow


@pytest.fixture
def engine(models, monkeypatch):
    """Make one engine in this process, with everything of it on the device."""
    from vllm import LLM
    from vllm.distributed import cleanup_dist_env_and_memory

    monkeypatch.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
    made = []

    def make(name: str, **options) -> LLM:
        llm = LLM(str(models / name), **{**SMALL, **options})
        made.append(llm)
        worker = llm.llm_engine.model_executor.driver_worker.worker
        places = {weight.device.type for weight in worker.get_model().parameters()}
        layers = llm.llm_engine.vllm_config.compilation_config.static_forward_context
        places |= {layer.kv_cache.device.type for layer in layers.values()}
        assert places == {"openreg"}
        torch.openreg.reset_fallback_counts()
        return llm

    yield make
    for llm in made:
        llm.llm_engine.engine_core.shutdown()
    cleanup_dist_env_and_memory()


@pytest.fixture
def greedy(engine, reference):
    """Generate, and compare each token with the reference; return the outputs."""
    from vllm import SamplingParams

    def generate(name: str, prompts: list[str], count: int, llm=None, **options):
        llm = llm or engine(name, **options)
        params = SamplingParams(temperature=0, max_tokens=count, ignore_eos=True)
        outputs = llm.generate(prompts, params, use_tqdm=False)
        assert not dict(torch.openreg.fallback_counts())
        for output in outputs:
            expected = reference(name, list(output.prompt_token_ids), count)
            assert list(output.outputs[0].token_ids) == expected
        return outputs

    return generate


@pytest.fixture
def run_python():
    """Run a program in a new interpreter; return the finished process."""

    def run(program: str, **env: str) -> subprocess.CompletedProcess[str]:
        return run_new(program, {**os.environ, **env})

    return run
