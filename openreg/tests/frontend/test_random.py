# Seeds, reproducibility and layers that draw; see docs/frontend/random.md.
import math
import threading
import warnings

import pytest
import torch
from random_support import (
    DEVICE,
    DRAWS,
    FUNCTIONS,
    N,
    correlation,
    empty,
    kolmogorov_smirnov,
)
from torch.testing import assert_close

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(2026)
    torch.openreg.reset_fallback_counts()


# -- the same seed gives the same numbers --


@pytest.mark.parametrize("name", [*DRAWS, *FUNCTIONS])
def test_one_seed_gives_one_answer_on_every_device(name):
    call = {**DRAWS, **FUNCTIONS}[name]

    def draw(device: str, seed: int) -> torch.Tensor:
        generator = torch.Generator(device).manual_seed(seed)
        result = call(torch.zeros(5, 30, device=device), generator)
        assert generator.get_offset() > 0
        assert result.device == torch.device(device)
        return result.cpu()

    first = draw("openreg:0", 7)
    assert torch.equal(draw("openreg:0", 7), first)
    assert torch.equal(draw("openreg:1", 7), first)
    assert not torch.equal(draw("openreg:0", 8), first)


@pytest.mark.parametrize("name", [*DRAWS, *FUNCTIONS])
def test_the_default_generator_is_used_and_no_other(name):
    call = {**DRAWS, **FUNCTIONS}[name]
    t = torch.zeros(2, 40, device="openreg:1")
    states = torch.openreg.get_rng_state_all()
    cpu = torch.get_rng_state()
    call(t, None)
    after = torch.openreg.get_rng_state_all()
    changed = [not torch.equal(a, b) for a, b in zip(states, after, strict=True)]
    assert changed == [index == 1 for index in range(len(states))]
    assert torch.equal(torch.get_rng_state(), cpu)


@pytest.mark.parametrize("name", [*DRAWS, *FUNCTIONS])
def test_a_generator_of_the_cpu_is_refused(name):
    t = torch.zeros(2, 40, device=DEVICE)
    message = "Expected a 'openreg' device type for generator but found 'cpu'"
    with pytest.raises(RuntimeError, match=message):
        {**DRAWS, **FUNCTIONS}[name](t, torch.Generator())
    assert (t.cpu() == 0).all()


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("shape", [(3, 5, 7), (1,), (), (1100, 3)])
def test_strides_do_not_matter(name, shape):
    def draw(t: torch.Tensor) -> torch.Tensor:
        result = DRAWS[name](t, torch.Generator(DEVICE).manual_seed(3))
        assert result is t
        return result.cpu()

    expected = draw(torch.empty(shape, device=DEVICE))
    reverse = tuple(range(len(shape)))[::-1]
    transposed = torch.empty(shape[::-1], device=DEVICE).permute(reverse)
    assert torch.equal(draw(transposed), expected)
    base = torch.full((*shape, 3), 99.0, device=DEVICE)
    assert torch.equal(draw(base[..., 1]), expected)
    assert (base[..., 0].cpu() == 99).all()
    assert (base[..., 2].cpu() == 99).all()


@pytest.mark.parametrize("name", [*DRAWS, *FUNCTIONS])
def test_nothing_is_drawn_for_no_elements(name):
    if name.startswith(("multinomial", "randperm")):
        return
    generator = torch.Generator(DEVICE)
    result = {**DRAWS, **FUNCTIONS}[name](torch.empty(0, 4, device=DEVICE), generator)
    assert result.shape == (0, 4)
    assert generator.get_offset() == 0


def test_two_draws_are_one_draw_where_blocks_end():
    # A block has four numbers of 32 bits, or two of 64; a draw starts with a new one.
    for dtype, block in ((torch.float32, 4), (torch.half, 4), (torch.float64, 2)):
        for draw in (torch.Tensor.uniform_, torch.Tensor.normal_):
            generator = torch.Generator(DEVICE).manual_seed(1)
            whole = draw(empty(dtype, 4000), generator=generator).cpu()
            assert generator.get_offset() == 4000 // block
            generator.manual_seed(1)
            parts = [draw(empty(dtype, n), generator=generator) for n in (1000, 3000)]
            assert torch.equal(torch.cat([part.cpu() for part in parts]), whole)
            generator.manual_seed(1)
            draw(empty(dtype, 1), generator=generator)
            assert generator.get_offset() == 1
            rest = draw(empty(dtype, 9), generator=generator).cpu()
            assert torch.equal(rest, whole[block : block + 9])


@pytest.mark.parametrize("name", ["uniform_", "normal_", "poisson", "_standard_gamma"])
def test_draws_generators_and_devices_are_independent(name):
    call = {**DRAWS, **FUNCTIONS}[name]
    size = (100, 200)
    limit = 4 / math.sqrt(N)
    t = torch.zeros(size, device=DEVICE)
    generator = torch.Generator(DEVICE).manual_seed(1)
    draws = [call(t.clone(), generator) for _ in range(3)]
    draws += [call(t.clone(), torch.Generator(DEVICE).manual_seed(s)) for s in (2, 3)]
    other = torch.Generator("openreg:1").manual_seed(2**32)
    draws.append(call(torch.zeros(size, device="openreg:1"), other))
    for i, a in enumerate(draws):
        assert abs(correlation(a.flatten()[1:], a.flatten()[:-1])) < limit
        for b in draws[:i]:
            assert abs(correlation(a, b)) < limit


def test_the_order_of_streams_does_not_matter():
    def draw(hold: bool) -> list[torch.Tensor]:
        generator = torch.Generator(DEVICE).manual_seed(5)
        a, b = torch.Stream(DEVICE), torch.Stream(DEVICE)
        x, y = empty(n=64), empty(n=64)
        torch.accelerator.synchronize()

        def both() -> None:
            with a:
                x.uniform_(generator=generator)
            with b:
                y.normal_(generator=generator)
                b.synchronize()

        if hold:
            with torch.openreg.simulator.hold(a):
                both()  # y is there before x has begun
        else:
            both()
        torch.accelerator.synchronize()
        return [x.cpu(), y.cpu()]

    for held, plain in zip(draw(True), draw(False), strict=True):
        assert torch.equal(held, plain)


PROGRAM = """
import hashlib, torch
torch.manual_seed(9)
digest = hashlib.sha256()
for call in (
    lambda: torch.rand(200_001, device="openreg"),
    lambda: torch.randn(70_003, device="openreg", dtype=torch.float64),
    lambda: torch.randint(0, 9, (50_000,), device="openreg"),
    lambda: torch.poisson(torch.full((9000,), 12.0, device="openreg")),
    lambda: torch.randperm(999, device="openreg"),
    lambda: torch.nn.functional.dropout(torch.ones(99_999, device="openreg")),
):
    digest.update(call().cpu().numpy().tobytes())
print(digest.hexdigest())
"""


def test_threads_and_the_way_of_execution_do_not_matter(run_forked):
    expected = None
    for env in (
        {"OMP_NUM_THREADS": "1", "OPENREG_LAUNCH_BLOCKING": "1"},
        {"OMP_NUM_THREADS": "5", "OPENREG_STEAL": "0"},
    ):
        process = run_forked(PROGRAM, **env)
        assert process.returncode == 0, process.stderr
        expected = expected or process.stdout
        assert process.stdout == expected, env


# -- seeding --


def test_torch_seeds_all_devices():
    torch.manual_seed(41)
    assert [g.initial_seed() for g in torch.openreg.default_generators] == [41] * (
        torch.openreg.device_count()
    )
    seed = torch.seed()
    assert torch.openreg.initial_seed() == seed != 41
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.random.manual_seed(3)
    assert torch.openreg.initial_seed() == 3


def test_the_module_seeds_one_device_or_all():
    generators = torch.openreg.default_generators
    torch.openreg.manual_seed_all(1)
    with torch.openreg.device(1):
        torch.openreg.manual_seed(2)
        assert torch.openreg.initial_seed() == 2
    assert [g.initial_seed() for g in generators][:2] == [1, 2]
    torch.openreg.seed()
    assert generators[0].initial_seed() not in (1, 2)
    torch.openreg.seed_all()
    assert len({g.initial_seed() for g in generators}) == 1
    with pytest.raises(ValueError, match=r"[Oo]verflow"):
        torch.openreg.manual_seed(2**64)


def test_states_of_all_devices():
    states = torch.openreg.get_rng_state_all()
    first = torch.rand(3, device="openreg:1").cpu()
    torch.openreg.set_rng_state_all(states)
    assert torch.equal(torch.rand(3, device="openreg:1").cpu(), first)
    before = torch.openreg.get_rng_state_all()
    with pytest.raises(ValueError, match="one state for each of the"):
        torch.openreg.set_rng_state_all(states[:-1])
    bad = [torch.Generator(DEVICE).manual_seed(1).get_state() for _ in states]
    bad[-1] = torch.zeros(3, dtype=torch.uint8)
    with pytest.raises(RuntimeError, match="RNG state is wrong size"):
        torch.openreg.set_rng_state_all(bad)
    for a, b in zip(before, torch.openreg.get_rng_state_all(), strict=True):
        assert torch.equal(a, b)


def test_rng_state_takes_every_spelling_of_a_device():
    torch.openreg.default_generators[1].manual_seed(77)
    state = torch.openreg.get_rng_state(1)
    for device in ("openreg:1", torch.device("openreg", 1)):
        assert torch.equal(torch.openreg.get_rng_state(device), state)
    torch.openreg.set_rng_state(state)
    assert torch.openreg.default_generators[0].initial_seed() == 77
    with pytest.raises(torch.AcceleratorError, match="out of range"):
        torch.openreg.get_rng_state(99)
    with pytest.raises(ValueError, match="Expected an openreg device"):
        torch.openreg.get_rng_state("cpu")


def test_fork_rng_restores_every_device():
    states = torch.openreg.get_rng_state_all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warns that many devices may be slow
        with torch.random.fork_rng():
            torch.rand(3, device="openreg:0")
            torch.rand(3, device="openreg:1")
    for a, b in zip(states, torch.openreg.get_rng_state_all(), strict=True):
        assert torch.equal(a, b)
    with torch.random.fork_rng(devices=[1]):
        torch.rand(3, device="openreg:0")
        torch.rand(3, device="openreg:1")
    after = torch.openreg.get_rng_state_all()
    assert not torch.equal(after[0], states[0])
    assert torch.equal(after[1], states[1])


def test_seeding_in_a_forked_child_leaves_the_device_alone(run_forked):
    process = run_forked(
        """
        import os, torch
        torch.manual_seed(5)
        torch.rand(1, device="openreg")
        generator = torch.openreg.default_generators[0]
        pid = os.fork()
        if pid == 0:
            torch.manual_seed(6)  # must not fail
            os._exit(generator.initial_seed())
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        """
    )
    assert process.stdout == "5\n", process.stderr


# -- what stands on these operators --


def test_factories_and_layers_draw_on_the_device():
    x = torch.ones(3, 4, device=DEVICE)
    weights = torch.tensor([0.5, 0.5], device=DEVICE)
    calls = [
        lambda: torch.rand(3, device=DEVICE), lambda: torch.randn(3, device=DEVICE),
        lambda: torch.randint(5, (3,), device=DEVICE), lambda: torch.rand_like(x),
        lambda: torch.randn_like(x), lambda: torch.randint_like(x, 5),
        lambda: torch.randperm(9, device=DEVICE), lambda: torch.bernoulli(weights),
        lambda: torch.bernoulli(weights, 0.3), lambda: torch.poisson(x),
        lambda: torch.normal(0.0, 1.0, (3,), device=DEVICE),
        lambda: torch.multinomial(weights, 1),
        lambda: torch.nn.functional.dropout(x), lambda: torch.nn.functional.rrelu(x),
        lambda: torch.nn.init.uniform_(torch.empty_like(x)),
        lambda: torch.nn.init.normal_(torch.empty_like(x)),
        lambda: torch.nn.init.kaiming_uniform_(torch.empty_like(x)),
        lambda: torch.nn.init.xavier_normal_(torch.empty_like(x)),
        lambda: torch.nn.Linear(3, 4, device=DEVICE),
    ]  # fmt: skip
    for index, call in enumerate(calls):
        torch.openreg.reset_fallback_counts()
        call()
        assert torch.openreg.fallback_counts() in ({}, {"aten::leaky_relu": 1}), index


@pytest.mark.parametrize(
    "call",
    [
        lambda x: torch.nn.functional.gumbel_softmax(x),
        lambda x: torch.feature_dropout(x, 0.5, True),
        lambda x: torch.nn.functional.alpha_dropout(x, 0.5, True),
        lambda x: torch.nn.init.trunc_normal_(x.clone()),
        lambda x: torch.nn.init.orthogonal_(x.clone()),
        lambda x: torch.nn.init.sparse_(x.clone(), 0.5),
    ],
)
def test_the_random_part_of_other_functions_does_not_fall_back(call):
    x = torch.ones(4, 4, device=DEVICE)
    torch.openreg.reset_fallback_counts()
    call(x)
    drawn = {
        name
        for name in torch.openreg.fallback_counts()
        if name.removeprefix("aten::").split(".")[0]
        in {"uniform_", "normal_", "exponential_", "bernoulli_", "randperm", "random_"}
    }
    assert drawn == set()


def test_normal_with_tensors_has_their_mean_and_deviation():
    mean = torch.tensor([[0.0], [50.0]]).to(DEVICE)
    std = torch.tensor([1.0, 0.0, 3.0]).to(DEVICE)
    x = torch.stack([torch.normal(mean, std).cpu() for _ in range(800)])
    assert x.shape == (800, 2, 3)
    assert_close(x.mean(0), mean.cpu().expand(2, 3), atol=0.5, rtol=0)
    assert_close(x.std(0), std.cpu().expand(2, 3), atol=0.3, rtol=0)
    out = torch.empty(2, 1, device=DEVICE)
    assert torch.normal(mean, 0.0, out=out) is out
    assert out.tolist() == mean.tolist()
    assert torch.normal(1.0, std * 0).tolist() == [1.0, 1.0, 1.0]


# -- dropout and rrelu --


@pytest.mark.parametrize("dtype", [*FLOATS, torch.complex64])
def test_dropout_keeps_and_scales(dtype):
    x = torch.randn(N, dtype=dtype)
    out, mask = torch.native_dropout(x.to(DEVICE), 0.25, True)
    assert mask.dtype == torch.bool
    assert abs(mask.cpu().double().mean() - 0.75) < 0.012
    assert_close(out.cpu(), x * mask.cpu() / 0.75)


def test_dropout_without_training_and_at_its_limits():
    x = torch.tensor([1.0, -2.0, math.inf])
    for p, train in ((0.5, False), (0.0, True), (1.0, True), (0.0, None), (1.0, None)):
        got = torch.native_dropout(x.to(DEVICE), p, train)
        for a, b in zip(got, torch.native_dropout(x, p, train), strict=True):
            assert_close(a.cpu(), b, equal_nan=True)
    assert torch.native_dropout(torch.empty(0, device=DEVICE), 0.5, True)[0].shape == (
        0,
    )


def test_the_gradient_of_dropout_is_that_of_the_cpus_formula():
    x = torch.randn(40, 30)
    on_device = x.to(DEVICE).requires_grad_()
    out = torch.nn.functional.dropout(on_device, 0.4)
    weight = torch.randn(40, 30)
    (out * weight.to(DEVICE)).sum().backward()
    on_cpu = x.clone().requires_grad_()
    mask = (out.detach().cpu() != 0).float()
    (on_cpu * mask / 0.6 * weight).sum().backward()
    assert_close(on_device.grad.cpu(), on_cpu.grad)
    assert "aten::native_dropout_backward" not in torch.openreg.fallback_counts()


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool])
def test_the_gradient_of_dropout_takes_integers_as_the_cpu_does(dtype):
    grad, mask = torch.arange(4).to(dtype), torch.tensor([True, False, True, True])
    backward = torch.ops.aten.native_dropout_backward
    actual = backward(grad.to(DEVICE), mask.to(DEVICE), 2.5)
    assert_close(actual.cpu(), backward(grad, mask, 2.5))


def test_checkpointing_recomputes_the_same_mask():
    layer = torch.nn.Dropout(0.5)
    x = torch.ones(3000, device=DEVICE, requires_grad=True)
    out = torch.utils.checkpoint.checkpoint(
        lambda t: layer(t) * t, x, use_reentrant=False
    )
    out.sum().backward()
    # d(mask * 2 * t * t) = mask * 4: nonzero exactly where the first pass was.
    assert_close(x.grad.cpu(), out.detach().cpu() * 2)


@pytest.mark.parametrize("dtype", FLOATS)
def test_rrelu(dtype):
    x = torch.randn(50, 40, dtype=dtype)
    on_device = x.to(DEVICE).requires_grad_()
    out = torch.nn.functional.rrelu(on_device, 0.1, 0.3, training=True)
    slope = (out.detach().cpu() / x)[x < 0]
    assert kolmogorov_smirnov(slope, lambda s: ((s - 0.1) / 0.2).clamp(0, 1)) < 1.95
    assert torch.equal(out.detach().cpu()[x > 0], x[x > 0])
    out.sum().backward()
    assert_close(on_device.grad.cpu()[x < 0], slope)
    evaluated = torch.nn.functional.rrelu(x.to(DEVICE), 0.1, 0.3)
    assert_close(evaluated.cpu(), torch.nn.functional.rrelu(x, 0.1, 0.3))
    noise, same = torch.zeros(50, 40, dtype=dtype, device=DEVICE), x.to(DEVICE)
    torch.ops.aten.rrelu_with_noise_(same, noise, 0.1, 0.3, True)
    assert_close(same.cpu(), x * noise.cpu())


# -- threads --


def test_eight_threads_draw_together():
    def work() -> None:
        for _ in range(30):
            torch.randn(300, device=DEVICE)
            torch.nn.functional.dropout(torch.ones(100, device="openreg:1"))

    torch.openreg.manual_seed_all(1)
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first, second = torch.openreg.default_generators[:2]
    assert first.get_offset() == 8 * 30 * 75
    assert second.get_offset() == 8 * 30 * 25
