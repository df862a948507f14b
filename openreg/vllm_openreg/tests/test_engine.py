# Tokens of vLLM's engine, equal to those of a reference; see docs/frontend/serving.md.
import pytest
import torch
from tiny_models import PROMPTS, TEXT, WINDOW

LONG = f"{TEXT} " * 5


@pytest.mark.parametrize("name", ["llama", "opt"])
def test_greedy_tokens(greedy, name):
    greedy(name, PROMPTS, 16)


def test_sliding_window(greedy):
    (output, *_) = greedy("mistral", [LONG, *PROMPTS], 20)
    assert len(output.prompt_token_ids) > WINDOW


def test_chunked_prefill(greedy):
    (output, *_) = greedy("llama", [LONG, *PROMPTS], 16, max_num_batched_tokens=32)
    assert len(output.prompt_token_ids) > 32  # took two steps at least


def test_prefix_cache(engine, greedy):
    llm = engine("llama", enable_prefix_caching=True)
    (first,) = greedy("llama", [LONG], 8, llm=llm)
    (second,) = greedy("llama", [LONG + "a"], 8, llm=llm)
    assert first.num_cached_tokens == 0
    assert second.num_cached_tokens >= 48  # whole blocks of 16


def test_preemption(engine, greedy):
    """14 blocks hold two of the requests: one is stopped, and computed again."""
    options = {"num_gpu_blocks_override": 14, "enable_prefix_caching": False}
    llm = engine("llama", disable_log_stats=False, **options)
    greedy("llama", [LONG[:120], LONG[3:120], LONG[8:120]], 60, llm=llm)
    counts = {metric.name: metric for metric in llm.get_metrics()}
    assert counts["vllm:num_preemptions"].value > 0


def test_measured_memory(engine, greedy):
    """The run that measures memory, and what remains of the share for the cache."""
    options = {"kv_cache_memory_bytes": None, "gpu_memory_utilization": 0.02}
    llm = engine("llama", **options)
    greedy("llama", PROMPTS, 8, llm=llm)
    layers = llm.llm_engine.vllm_config.compilation_config.static_forward_context
    held = sum(layer.kv_cache.nbytes for layer in layers.values())
    total = torch.accelerator.get_memory_info()[1]
    assert 0.005 * total < held < 0.02 * total


def test_kernels_of_the_device_are_called(greedy, monkeypatch):
    import vllm_openreg.layers as layers

    calls = {"rms_norm": 0, "silu": 0}

    def counted(name, function):
        def call(*args, **rest):
            calls[name] += 1
            return function(*args, **rest)

        return call

    for name in calls:
        function = getattr(layers.F, name)
        monkeypatch.setattr(layers.F, name, counted(name, function))
    greedy("llama", PROMPTS[:1], 4)
    assert all(count >= 4 for count in calls.values()), calls


@pytest.mark.parametrize("backend", ["eager", "inductor"])
def test_torch_compile(greedy, backend):
    from torch._dynamo.utils import counters
    from vllm.config import CompilationMode

    counters.clear()
    mode = CompilationMode.DYNAMO_TRACE_ONCE
    greedy("llama", PROMPTS, 8, compilation_config={"mode": mode, "backend": backend})
    assert counters["stats"]["unique_graphs"] > 0


def likelihoods(model, output):
    """The reference's logarithms for each token that was generated, and any other."""
    ids, chosen = output.prompt_token_ids, output.outputs[0].token_ids
    with torch.no_grad():
        logits = model(torch.tensor([[*ids, *chosen]])).logits[0, len(ids) - 1 : -1]
    return logits.float().log_softmax(-1)


def test_half_precision(engine, models):
    """Each token is as likely as the best one, for the reference in bfloat16."""
    from transformers import AutoModelForCausalLM
    from vllm import SamplingParams

    llm = engine("llama", dtype="bfloat16")
    params = SamplingParams(temperature=0, max_tokens=12, ignore_eos=True, logprobs=0)
    model = AutoModelForCausalLM.from_pretrained(models / "llama", dtype=torch.bfloat16)
    for output in llm.generate(PROMPTS, params, use_tqdm=False):
        chosen, likely = output.outputs[0].token_ids, likelihoods(model, output)
        expected = likely.gather(1, torch.tensor(chosen)[:, None])[:, 0]
        given = [
            step[token].logprob
            for step, token in zip(output.outputs[0].logprobs, chosen, strict=True)
        ]
        assert (likely.max(-1).values - expected).max() < 0.15
        torch.testing.assert_close(torch.tensor(given), expected, atol=0.15, rtol=0)


def test_log_probabilities(engine, models):
    """The likelihood of each token, in float32, equals that of the reference."""
    from transformers import AutoModelForCausalLM
    from vllm import SamplingParams

    llm = engine("llama")
    params = SamplingParams(temperature=0, max_tokens=8, ignore_eos=True, logprobs=3)
    model = AutoModelForCausalLM.from_pretrained(models / "llama", dtype=torch.float32)
    for output in llm.generate(PROMPTS, params, use_tqdm=False):
        steps = output.outputs[0].logprobs
        for row, step in zip(likelihoods(model, output), steps, strict=True):
            best = row.topk(3)
            given = {token: entry.logprob for token, entry in step.items()}
            assert set(best.indices.tolist()) <= set(given)
            for token, value in given.items():
                assert abs(value - row[token].item()) < 1e-4


def test_sampled_tokens_are_reproducible(engine):
    from vllm import SamplingParams

    llm = engine("llama")

    def sample(seed, **options):
        common = {"temperature": 1.0, "max_tokens": 12, "ignore_eos": True}
        params = SamplingParams(**{**common, **options}, seed=seed)
        outputs = llm.generate(PROMPTS, params, use_tqdm=False)
        assert not dict(torch.openreg.fallback_counts())
        return [list(output.outputs[0].token_ids) for output in outputs]

    first = sample(1, top_k=50, top_p=0.9)
    assert sample(1, top_k=50, top_p=0.9) == first
    assert sample(2, top_k=50, top_p=0.9) != first
    assert sample(1, top_k=1) == sample(1, temperature=0)  # only the best remains
    sample(1, repetition_penalty=1.2, min_p=0.1, logit_bias={5: 2.0})  # on the device
