# What vLLM 0.32 does without each part of the plug-in; see docs/frontend/serving.md.
"""A failure that goes away makes its test fail: then the page needs another row."""

import pytest
import torch
from tiny_models import PROMPTS
from vllm.config import CompilationMode
from vllm_openreg.attention import OpenRegAttentionBackend
from vllm_openreg.platform import OpenRegPlatform
from vllm_openreg.worker import OpenRegWorker


def without(monkeypatch, owner, *names):
    """Take methods from a class of the plug-in, so that those of vLLM are called."""
    for name in names:
        monkeypatch.delattr(owner, name)


def replace(monkeypatch, name, function):
    """Put a function in the place of a class method of the platform."""
    monkeypatch.setattr(OpenRegPlatform, name, staticmethod(function))


def changed(monkeypatch, change):
    """Let the platform choose its settings, and change them afterwards."""
    choose = OpenRegPlatform.check_and_update_config

    def configure(config):
        choose(config)
        change(config)

    replace(monkeypatch, "check_and_update_config", configure)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("init_device", "Unsupported device type: openreg"),
        ("_maybe_get_memory_pool_context", "CuMem|cumem|allocator"),
    ],
)
def test_worker_without(engine, monkeypatch, method, message):
    without(monkeypatch, OpenRegWorker, method)
    with pytest.raises(Exception, match=message):
        engine("llama")


def test_warm_up_of_the_base_class(engine, monkeypatch):
    without(monkeypatch, OpenRegWorker, "compile_or_warm_up_model")
    with pytest.raises(ModuleNotFoundError, match="torchvision"):
        engine("llama")


def test_slots_without_the_replaced_kernel(run_python, models):
    """In a separate process: vLLM replaces a kernel once for all engines."""
    program = f"""
        from vllm import LLM
        from vllm_openreg.platform import OpenRegPlatform
        del OpenRegPlatform.register_triton_kernel_overrides
        sizes = dict(max_model_len=128, kv_cache_memory_bytes=1 << 22)
        LLM({str(models / "llama")!r}, **sizes).generate("the")
    """
    done = run_python(program, VLLM_ENABLE_V1_MULTIPROCESSING="0")
    assert "Cannot inspect kernel parameters for function" in done.stderr


def test_name_of_an_attention_backend(engine, monkeypatch):
    monkeypatch.setattr(OpenRegAttentionBackend, "get_name", lambda: "OPENREG")
    with pytest.raises(ValueError, match="OPENREG"):
        engine("llama")


def test_asynchronous_scheduling(engine, monkeypatch):
    def switch_on(config):
        config.scheduler_config.async_scheduling = True

    changed(monkeypatch, switch_on)
    with pytest.raises(RuntimeError, match=r"torch.cuda.Stream requires CUDA"):
        engine("llama")


def test_speculation_is_refused(engine):
    speculation = {"method": "ngram", "num_speculative_tokens": 2}
    with pytest.raises(NotImplementedError, match="Remove speculative_config"):
        engine("llama", speculative_config=speculation)


def test_speculation_without_the_refusal(engine, monkeypatch):
    """With numba, the next thing that is missing would be torch.cuda.Stream."""
    choose = OpenRegPlatform.check_and_update_config

    def configure(config):
        kept, config.speculative_config = config.speculative_config, None
        choose(config)
        config.speculative_config = kept

    replace(monkeypatch, "check_and_update_config", configure)
    speculation = {"method": "ngram", "num_speculative_tokens": 2}
    with pytest.raises(ModuleNotFoundError, match="numba"):
        engine("llama", speculative_config=speculation)


@pytest.mark.parametrize(
    ("backend", "message"),
    [("inductor", "rotary_embedding"), ("eager", "out of considered ranges")],
)
def test_compilation_in_the_default_mode(engine, monkeypatch, backend, message):
    def compile_all(config):
        config.compilation_config.mode = CompilationMode.VLLM_COMPILE

    changed(monkeypatch, compile_all)
    with pytest.raises(Exception, match=message):
        engine("llama", compilation_config={"backend": backend})


def test_attention_that_dynamo_traces(engine, reference, monkeypatch):
    """Wrong tokens and no error: the lengths of the first batch become constants."""
    from vllm import SamplingParams

    replace(monkeypatch, "opaque_attention_op", lambda: False)
    mode = {"mode": CompilationMode.DYNAMO_TRACE_ONCE, "backend": "eager"}
    llm = engine("llama", compilation_config=mode)
    params = SamplingParams(temperature=0, max_tokens=12, ignore_eos=True)
    (output, *_) = llm.generate(PROMPTS, params, use_tqdm=False)
    expected = reference("llama", list(output.prompt_token_ids), 12)
    assert list(output.outputs[0].token_ids) != expected


def test_layers_that_the_attention_lacks(engine):
    from vllm_openreg.attention import OpenRegAttention

    with pytest.raises(NotImplementedError, match="no ALiBi, no soft cap"):
        OpenRegAttention(4, 16, 1.0, alibi_slopes=[1.0], logits_soft_cap=30.0)
    with pytest.raises(ValueError, match="no kernels for a model in torch"):
        OpenRegPlatform.check_if_supports_dtype(torch.float64)


def test_fork(run_python, models):
    """vLLM forks by default; the device of the parent does not survive that."""
    program = f"""
        import torch
        from vllm import LLM
        torch.ones(1, device="openreg")
        LLM({str(models / "llama")!r}, max_model_len=128, kv_cache_memory_bytes=1 << 22)
    """
    done = run_python(program, VLLM_WORKER_MULTIPROC_METHOD="fork")
    assert done.returncode != 0
    said = done.stdout + done.stderr  # the engine logs what stopped it
    assert "Cannot re-initialize openreg in forked subprocess" in said


def test_without_the_plug_in(run_python, models):
    """vLLM from its source, without kernels: nothing silently runs on the CPU."""
    program = f"from vllm import LLM; LLM({str(models / 'llama')!r})"
    done = run_python(program, VLLM_PLUGINS="")
    assert "Device string must not be empty" in done.stdout + done.stderr
