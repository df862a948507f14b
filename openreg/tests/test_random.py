# Random operators: their numbers, their seeds, their errors; see docs/frontend/random.md.
import math
import threading
import warnings

import pytest
import torch
from torch.testing import assert_close

N = 20_000
DEVICE = "openreg"


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(2026)
    torch.openreg.reset_fallback_counts()


def kolmogorov_smirnov(sample: torch.Tensor, cdf) -> float:
    """sqrt(n) times the largest distance of the two distribution functions.

    Of honest samples, one in a thousand exceeds 1.95. The seed is fixed, so each test
    here gives one answer for ever.
    """
    x = sample.cpu().double().flatten().sort().values
    n = len(x)
    steps = torch.arange(n + 1, dtype=torch.float64) / n
    expected = cdf(x)
    distance = max((steps[1:] - expected).max(), (expected - steps[:-1]).max())
    return distance.item() * math.sqrt(n)


def chi_squared(sample: torch.Tensor, probability) -> float:
    """How many standard deviations a sample of small integers is off its probabilities."""
    values = sample.cpu().long().flatten()
    counts = torch.bincount(values).double()
    expected = probability(torch.arange(len(counts)).double()) * len(values)
    enough = expected >= 8
    terms = (counts - expected)[enough] ** 2 / expected[enough]
    rest = (counts.sum() - counts[enough].sum()) - (len(values) - expected[enough].sum())
    total = terms.sum() + rest**2 / max(1.0, len(values) - float(expected[enough].sum()))
    degrees = int(enough.sum())
    return ((total - degrees) / math.sqrt(2 * degrees)).item()


def normal_cdf(x: torch.Tensor) -> torch.Tensor:
    return torch.special.ndtr(x)


def log_factorial(k: torch.Tensor) -> torch.Tensor:
    return torch.lgamma(k + 1)


def empty(dtype: torch.dtype = torch.float32, n: int = N) -> torch.Tensor:
    return torch.empty(n, dtype=dtype, device=DEVICE)


FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
CONTINUOUS = {
    "uniform": (lambda t: t.uniform_(-1, 3), lambda x: (x + 1) / 4, 1.0, 16 / 12),
    "normal": (lambda t: t.normal_(2, 0.5), lambda x: normal_cdf(2 * x - 4), 2.0, 0.25),
    "log_normal": (
        lambda t: t.log_normal_(0.1, 0.5),
        lambda x: normal_cdf((x.log() - 0.1) / 0.5),
        math.exp(0.1 + 0.125),
        (math.exp(0.25) - 1) * math.exp(0.2 + 0.25),
    ),
    "exponential": (
        lambda t: t.exponential_(0.5),
        lambda x: -torch.expm1(-x / 2),
        2.0,
        4.0,
    ),
    "cauchy": (
        lambda t: t.cauchy_(1, 2),
        lambda x: 0.5 + ((x - 1) / 2).atan() / math.pi,
        None,
        None,
    ),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_distributions(name, dtype):
    draw, cdf, mean, variance = CONTINUOUS[name]
    sample = draw(empty(dtype))
    # Rounded to a half, all numbers of one step are one number: a jump of that width.
    coarse = {torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7}.get(dtype, 0)
    assert kolmogorov_smirnov(sample, cdf) < 1.95 + coarse * math.sqrt(N)
    if mean is not None:
        x = sample.cpu().double()
        error = 4 * math.sqrt(variance / N) + 0.002 * (coarse > 0)
        assert abs(x.mean().item() - mean) < error
        assert abs(x.var().item() / variance - 1) < 0.15
    assert torch.openreg.fallback_counts() == {}


def test_the_statistics_notice_a_wrong_distribution():
    assert kolmogorov_smirnov(empty().uniform_(), lambda x: x**1.1) > 1.95
    assert kolmogorov_smirnov(empty().normal_(0, 1.05), normal_cdf) > 1.95
    half = torch.tensor([0.5, 0.5]).double()
    assert chi_squared(empty().bernoulli_(0.52), lambda k: half) > 5


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_normal_tails_and_moments(dtype):
    x = empty(dtype, 400_000).normal_().cpu().double()
    assert abs((x**3).mean()) < 0.03
    assert abs((x**4).mean() - 3) < 0.06
    assert 4.2 < x.max() < 6.5
    assert -6.5 < x.min() < -4.2
    pairs = x.view(-1, 2)  # of one radius and one angle
    assert abs((pairs[:, 0] * pairs[:, 1]).mean()) < 0.01
    assert abs((pairs[:, 0] ** 2 * pairs[:, 1] ** 2).mean() - 1) < 0.03


def test_complex_numbers():
    x = empty(torch.complex64).normal_()
    parts = torch.view_as_real(x).cpu()
    assert kolmogorov_smirnov(parts * math.sqrt(2), normal_cdf) < 1.95
    x = torch.rand(N, dtype=torch.complex128, device=DEVICE)
    assert kolmogorov_smirnov(torch.view_as_real(x), lambda x: x) < 1.95


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("low", "high"), [(0, 1), (1, 2), (-2, -1), (0.1, 0.1), (3, 900)])
def test_uniform_numbers_stay_below_the_upper_bound(dtype, low, high):
    x = empty(dtype, 300_000).uniform_(low, high).cpu()
    bounds = torch.tensor([low, high], dtype=dtype)
    assert x.min() >= bounds[0]
    assert x.max() < bounds[1] or low == high == x.max().item() or bounds[0] == bounds[1]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("rate", [1e-6, 1, 1e9])
def test_exponential_numbers_are_neither_zero_nor_infinite(dtype, rate):
    x = empty(dtype, 300_000).exponential_(rate).cpu()
    assert (x > 0).all()
    assert x.isfinite().all()


def test_exponential_numbers_of_an_infinite_rate_are_zero_as_on_the_cpu():
    assert (empty().exponential_(math.inf).cpu() == 0).all()


# -- discrete --


def test_random_covers_the_range_of_each_dtype():
    for dtype, top in (
        (torch.uint8, 255), (torch.int8, 127), (torch.int16, 2**15 - 1),
        (torch.int32, 2**31 - 1), (torch.int64, 2**63 - 1), (torch.bool, 1),
        (torch.float32, 2**24), (torch.float64, 2**53), (torch.float16, 2**11),
        (torch.bfloat16, 2**8),
    ):  # fmt: skip
        x = empty(dtype, 100_000).random_().cpu()
        assert x.min() >= 0, dtype
        assert x.double().max() <= float(top), dtype
        if top > 1:
            distance = kolmogorov_smirnov(x, lambda x, top=top: (x + 0.5) / (top + 1))
            assert distance < 1.95 + 2 * math.sqrt(1e5) / top, dtype
        else:
            assert abs(x.double().mean() - 0.5) < 0.01
    assert set(empty(torch.uint8).random_().cpu().tolist()) == set(range(256))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.float32, torch.half])
def test_random_from_to(dtype):
    x = empty(dtype).random_(-3, 4).cpu()
    assert set(x.tolist()) == set(range(-3, 4))
    tenths = torch.full((7,), 1 / 7).double()
    assert chi_squared(x + 3, lambda k: tenths) < 4
    assert set(empty(dtype).random_(5).cpu().tolist()) == set(range(5))


def test_random_over_all_64_bits():
    x = empty(torch.int64).random_(-(2**63), None).cpu()
    assert kolmogorov_smirnov(x, lambda x: x / 2.0**64 + 0.5) < 1.95
    # A range that is no power of two: the remainder of a division would favour its start.
    x = empty(torch.int64).random_(0, 3 * 2**61).cpu()
    assert kolmogorov_smirnov(x, lambda x: x / (3 * 2.0**61)) < 1.95


@pytest.mark.parametrize("dtype", [*FLOATS, torch.int64, torch.uint8, torch.bool])
def test_bernoulli(dtype):
    for p in (0.0, 0.3, 1.0):
        assert abs(empty(dtype).bernoulli_(p).cpu().double().mean() - p) < 0.012
    each = torch.linspace(0, 1, N, dtype=torch.float64)
    x = empty(dtype).bernoulli_(each.to(DEVICE)).cpu().double()
    assert abs(x[: N // 2].mean() - 0.25) < 0.02
    assert abs(x[N // 2 :].mean() - 0.75) < 0.02


def test_bernoulli_takes_half_precision_and_broadcast_probabilities():
    p = torch.tensor([0.0, 1.0], dtype=torch.float16)
    x = torch.empty(50, 2, device=DEVICE).bernoulli_(p.to(DEVICE)).cpu()
    assert (x == torch.tensor([0.0, 1.0])).all()
    assert torch.bernoulli(torch.full((9,), 1.0, device=DEVICE)).tolist() == [1.0] * 9
    out = torch.empty(1, device=DEVICE)
    torch.bernoulli(torch.zeros(3, device=DEVICE), out=out)
    assert out.tolist() == [0.0] * 3


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64])
def test_geometric(dtype):
    x = empty(dtype).geometric_(0.3)
    assert x.cpu().min() == 1
    assert chi_squared(x, lambda k: torch.where(k > 0, 0.3 * 0.7 ** (k - 1), 0.0)) < 4


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("rate", [0.0, 0.5, 9.0, 14.0, 60.0])
def test_poisson(dtype, rate):
    x = torch.poisson(torch.full((N,), rate, dtype=dtype, device=DEVICE))
    assert x.dtype == dtype

    def probability(k: torch.Tensor) -> torch.Tensor:
        return (k * math.log(rate) - rate - log_factorial(k)).exp()

    if rate == 0:
        assert (x.cpu() == 0).all()
    else:
        assert chi_squared(x, probability) < 4


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("p", [0.02, 0.4, 0.9])
@pytest.mark.parametrize("count", [7, 90])
def test_binomial(dtype, p, count):
    total = torch.full((N,), float(count), dtype=dtype, device=DEVICE)
    x = torch.binomial(total, torch.full_like(total, p))

    def probability(k: torch.Tensor) -> torch.Tensor:
        n = torch.tensor(float(count), dtype=torch.float64)
        choose = log_factorial(n) - log_factorial(k) - log_factorial(n - k)
        return (choose + k * math.log(p) + (n - k) * math.log1p(-p)).exp()

    assert chi_squared(x, probability) < 4


def test_binomial_of_strange_parameters_is_what_the_cpu_gives():
    count = torch.tensor([10.0, 10.0, 10.0, -3.0, 0.0])
    p = torch.tensor([0.0, 1.0, 2.0, 0.5, math.nan])
    x = torch.binomial(count.to(DEVICE), p.to(DEVICE)).cpu()
    assert_close(x, torch.binomial(count, p), equal_nan=True)
    # The CPU does not come back from these.
    endless = torch.tensor([math.nan, math.inf], device=DEVICE)
    assert torch.binomial(endless, torch.full_like(endless, 0.5)).cpu().isnan().all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("alpha", [0.3, 1.0, 6.5])
def test_standard_gamma(dtype, alpha):
    shape = torch.full((N,), alpha, dtype=dtype, device=DEVICE)
    x = torch._standard_gamma(shape)
    cdf = torch.special.gammainc
    expected = torch.tensor(alpha, dtype=torch.float64)
    assert kolmogorov_smirnov(x, lambda x: cdf(expected, x)) < 1.95


def test_standard_gamma_without_a_distribution_ends():
    alpha = torch.tensor([0.0, -1.0, math.nan, math.inf], device=DEVICE)
    x = torch._standard_gamma(alpha).cpu()
    assert x[0] == torch.finfo(torch.float32).tiny
    assert x[1:].isnan().all()


def test_dirichlet():
    alpha = torch.tensor([1.0, 2.0, 3.0], device=DEVICE).expand(N, 3)
    x = torch._sample_dirichlet(alpha).cpu()
    assert_close(x.sum(1), torch.ones(N))
    assert_close(x.mean(0), torch.tensor([1.0, 2.0, 3.0]) / 6, atol=0.005, rtol=0)
    # The first one alone is Beta(1, 5).
    assert kolmogorov_smirnov(x[:, 0], lambda x: 1 - (1 - x) ** 5) < 1.95


def test_torch_distributions_work():
    gamma = torch.distributions.Gamma(torch.tensor(2.0).to(DEVICE), 1.0)
    gamma = gamma.sample((N,))
    assert kolmogorov_smirnov(gamma, lambda x: 1 - (1 + x) * (-x).exp()) < 1.95


# -- choosing --


def test_multinomial_with_replacement():
    weights = torch.tensor([1.0, 0.0, 3.0, 4.0])
    x = torch.multinomial(weights.to(DEVICE), N, replacement=True)
    assert (x.dtype, x.shape) == (torch.int64, (N,))
    assert chi_squared(x, lambda k: (weights / 8).double()[: len(k)]) < 4
    rows = torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.half, device=DEVICE)
    assert torch.multinomial(rows, 3, True).tolist() == [[1, 1, 1], [0, 0, 0]]


def test_multinomial_without_replacement():
    weights = torch.tensor([1.0, 2.0, 5.0]).to(DEVICE).expand(N, 3)
    x = torch.multinomial(weights, 2).cpu()
    assert (x[:, 0] != x[:, 1]).all()
    first = torch.tensor([1.0, 2.0, 5.0]).double() / 8
    assert chi_squared(x[:, 0], lambda k: first[: len(k)]) < 4
    # 0 and then 1: 1/8, times 2/7 of the rest.
    assert abs(((x[:, 0] == 0) & (x[:, 1] == 1)).double().mean() - 2 / 56) < 0.005
    zeros = torch.tensor([0.0, 1.0, 0.0], device=DEVICE)
    assert torch.multinomial(zeros, 3).tolist()[0] == 1  # the others come last
    assert sorted(torch.multinomial(zeros, 3).tolist()) == [0, 1, 2]


def test_randperm():
    for dtype in (torch.int64, torch.int32, torch.float32, torch.uint8):
        x = torch.randperm(200, dtype=dtype, device=DEVICE)
        assert x.dtype == dtype
        assert sorted(x.tolist()) == list(range(200))
    places = torch.stack([torch.randperm(5, device=DEVICE).cpu() for _ in range(2000)])
    fifths = torch.full((5,), 0.2).double()
    for column in places.unbind(1):
        assert chi_squared(column, lambda k: fifths) < 4
    out = torch.zeros(12, dtype=torch.int64, device=DEVICE)[::2]
    assert torch.randperm(6, out=out) is out
    assert sorted(out.tolist()) == list(range(6))
    assert torch.randperm(0, device=DEVICE).shape == (0,)


# -- the same seed gives the same numbers --

DRAWS = {
    "uniform_": lambda t, g: t.uniform_(generator=g),
    "normal_": lambda t, g: t.normal_(generator=g),
    "log_normal_": lambda t, g: t.log_normal_(generator=g),
    "exponential_": lambda t, g: t.exponential_(generator=g),
    "cauchy_": lambda t, g: t.cauchy_(generator=g),
    "geometric_": lambda t, g: t.geometric_(0.5, generator=g),
    "random_": lambda t, g: t.random_(generator=g),
    "random_.from": lambda t, g: t.random_(2, 90, generator=g),
    "random_.to": lambda t, g: t.random_(90, generator=g),
    "bernoulli_.float": lambda t, g: t.bernoulli_(0.5, generator=g),
    "bernoulli_.Tensor": lambda t, g: t.bernoulli_(
        torch.full(t.shape, 0.5, device=t.device), generator=g
    ),
}
FUNCTIONS = {
    "poisson": lambda t, g: torch.poisson(t + 4, generator=g),
    "binomial": lambda t, g: torch.binomial(t + 30, t + 0.4, generator=g),
    "_standard_gamma": lambda t, g: torch._standard_gamma(t + 2, generator=g),
    "_sample_dirichlet": lambda t, g: torch._sample_dirichlet(t + 2, generator=g),
    "multinomial": lambda t, g: torch.multinomial(t[0] + 1, 3, generator=g),
    "multinomial.replacement": lambda t, g: torch.multinomial(
        t[0] + 1, 9, True, generator=g
    ),
    "randperm": lambda t, g: torch.randperm(40, device=t.device, generator=g),
    "normal.Tensor_Tensor": lambda t, g: torch.normal(t, t + 1, generator=g),
    "normal.Tensor_float": lambda t, g: torch.normal(t, 2.0, generator=g),
    "normal.float_Tensor": lambda t, g: torch.normal(2.0, t + 1, generator=g),
    "rrelu_with_noise": lambda t, g: torch.ops.aten.rrelu_with_noise(
        t - 1, torch.empty_like(t), 0.1, 0.3, True, g
    ),
}


def in_place(name: str):
    return lambda t, g: DRAWS[name](t, g)


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


def correlation(a: torch.Tensor, b: torch.Tensor) -> float:
    stacked = torch.stack([a.cpu().double().flatten(), b.cpu().double().flatten()])
    return torch.corrcoef(stacked)[0, 1].item()


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


def test_threads_and_the_way_of_execution_do_not_matter(run_python):
    expected = None
    for env in (
        {"OMP_NUM_THREADS": "1"},
        {"OMP_NUM_THREADS": "5"},
        {"OMP_NUM_THREADS": "2", "OPENREG_STEAL": "0"},
        {"OPENREG_LAUNCH_BLOCKING": "1"},
    ):
        process = run_python(PROGRAM, **env)
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
    with pytest.raises(ValueError, match="[Oo]verflow"):
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
    with pytest.raises(ValueError, match="16 contiguous bytes"):
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
    with pytest.raises(ValueError, match="out of range"):
        torch.openreg.get_rng_state(99)
    with pytest.raises(ValueError, match="expected an openreg device"):
        torch.openreg.get_rng_state("cpu")


def test_fork_rng_restores_every_device():
    states = torch.openreg.get_rng_state_all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it does so, and warns that it may be slow
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


def test_seeding_in_a_forked_child_leaves_the_device_alone(run_python):
    process = run_python(
        """
        import os, torch
        torch.manual_seed(5)
        torch.rand(1, device="openreg")
        pid = os.fork()
        if pid == 0:
            torch.manual_seed(6)  # must not fail
            os._exit(torch.openreg.initial_seed())
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
        lambda x: torch.nn.functional.feature_dropout(x, 0.5, True),
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
    out = torch.empty(0, device=DEVICE)
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
    assert torch.native_dropout(torch.empty(0, device=DEVICE), 0.5, True)[0].shape == (0,)


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


def test_checkpointing_recomputes_the_same_mask():
    layer = torch.nn.Dropout(0.5)
    x = torch.ones(3000, device=DEVICE, requires_grad=True)
    out = torch.utils.checkpoint.checkpoint(lambda t: layer(t) * t, x, use_reentrant=False)
    out.sum().backward()
    # d(mask * 2 * t * t) = mask * 4: nonzero exactly where the first pass was.
    assert_close(x.grad.cpu(), out.detach().cpu() * 2)


def test_rrelu():
    x = torch.randn(50, 40)
    on_device = x.to(DEVICE).requires_grad_()
    out = torch.nn.functional.rrelu(on_device, 0.1, 0.3, training=True)
    slope = (out.detach().cpu() / x)[x < 0]
    assert kolmogorov_smirnov(slope, lambda s: ((s - 0.1) / 0.2).clamp(0, 1)) < 1.95
    assert torch.equal(out.detach().cpu()[x > 0], x[x > 0])
    out.sum().backward()
    assert_close(on_device.grad.cpu()[x < 0], slope)
    evaluated = torch.nn.functional.rrelu(x.to(DEVICE), 0.1, 0.3)
    assert_close(evaluated.cpu(), torch.nn.functional.rrelu(x, 0.1, 0.3))
    noise, same = torch.zeros(50, 40, device=DEVICE), x.to(DEVICE)
    torch.ops.aten.rrelu_with_noise_(same, noise, 0.1, 0.3, True)
    assert_close(same.cpu(), x * noise.cpu())


# -- errors --


def t(*values: float, device: str) -> torch.Tensor:
    return torch.tensor(values, device=device)


REFUSED = {
    "uniform_ bounds": lambda d: torch.empty(2, device=d).uniform_(1, 0),
    "uniform_ half": lambda d: torch.empty(2, device=d).half().uniform_(0, 1e6),
    "normal_ std": lambda d: torch.empty(2, device=d).normal_(0, -1),
    "log_normal_ std": lambda d: torch.empty(2, device=d).log_normal_(0, 0),
    "exponential_ rate": lambda d: torch.empty(2, device=d).exponential_(0.0),
    "exponential_ dtype": lambda d: torch.empty(2, device=d, dtype=int).exponential_(),
    "cauchy_ sigma": lambda d: torch.empty(2, device=d).cauchy_(0, 0),
    "cauchy_ dtype": lambda d: torch.empty(2, device=d, dtype=int).cauchy_(),
    "geometric_ p": lambda d: torch.empty(2, device=d).geometric_(1),
    "random_ bounds": lambda d: torch.empty(2, device=d).random_(3, 3),
    "random_ dtype": lambda d: torch.empty(2, device=d).to(torch.uint8).random_(0, 300),
    "bernoulli_ p": lambda d: torch.empty(2, device=d).bernoulli_(2.0),
    "bernoulli_ shape": lambda d: torch.empty(2, device=d).bernoulli_(
        torch.full((3,), 0.5, device=d)
    ),
    "normal std": lambda d: torch.normal(t(1.0, 2.0, device=d), -1.0),
    "normal tensor": lambda d: torch.normal(0.0, t(1.0, -2.0, device=d)),
    "normal shapes": lambda d: torch.normal(t(1, 2, device=d), t(1, 2, 3, device=d)),
    "poisson rate": lambda d: torch.poisson(t(1.0, -1.0, device=d)),
    "poisson nan": lambda d: torch.poisson(t(math.nan, device=d)),
    "binomial dtype": lambda d: torch.binomial(t(1, device=d), t(0.5, device=d)),
    "binomial dtypes": lambda d: torch.binomial(
        t(1.0, device=d), t(0.5, device=d).double()
    ),
    "multinomial dim": lambda d: torch.multinomial(torch.ones(2, 2, 2, device=d), 1),
    "multinomial dtype": lambda d: torch.multinomial(t(1, 2, device=d), 1),
    "multinomial none": lambda d: torch.multinomial(t(1.0, 2.0, device=d), 0),
    "multinomial many": lambda d: torch.multinomial(t(1.0, 2.0, device=d), 3),
    "multinomial < 0": lambda d: torch.multinomial(t(1.0, -2.0, device=d), 1),
    "multinomial nan": lambda d: torch.multinomial(t(1.0, math.nan, device=d), 1),
    "multinomial r < 0": lambda d: torch.multinomial(t(1.0, -1.0, device=d), 5, True),
    "multinomial r inf": lambda d: torch.multinomial(t(1.0, math.inf, device=d), 5, True),
    "multinomial sum": lambda d: torch.multinomial(t(0.0, 0.0, device=d), 1),
    "multinomial out": lambda d: torch.multinomial(
        t(1.0, device=d), 1, out=torch.empty(1, device=d)
    ),
    "randperm n": lambda d: torch.randperm(-1, device=d),
    "randperm half": lambda d: torch.randperm(3000, device=d, dtype=torch.half),
    "rrelu shape": lambda d: torch.ops.aten.rrelu_with_noise(
        t(1.0, 2.0, device=d), t(1.0, device=d), 0.1, 0.3, True
    ),
    "dropout p": lambda d: torch.nn.functional.dropout(t(1.0, device=d), 2),
    "overlap": lambda d: torch.empty(1, device=d).expand(3).uniform_(),
    "overlap normal": lambda d: torch.empty(1, device=d).expand(3).normal_(),
    "overlap bernoulli": lambda d: torch.empty(1, device=d).expand(3).bernoulli_(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_cpu_refuses_is_refused_in_its_words(name):
    with pytest.raises((RuntimeError, ValueError)) as cpu:
        REFUSED[name]("cpu")
    with pytest.raises((RuntimeError, ValueError)) as device:
        REFUSED[name](DEVICE)
    assert device.type is cpu.type
    assert str(device.value).splitlines()[0] == str(cpu.value).splitlines()[0]


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize(
    "dtype", [torch.uint16, torch.complex64, torch.float8_e5m2, torch.int64, torch.bool]
)
def test_dtypes_are_those_of_the_cpu(name, dtype):
    try:
        DRAWS[name](torch.empty(3, dtype=dtype), None)
    except (NotImplementedError, RuntimeError) as error:
        with pytest.raises(type(error), match=str(error).split("'")[-2][:20]):
            DRAWS[name](torch.empty(3, dtype=dtype, device=DEVICE), None)
    else:
        DRAWS[name](torch.empty(3, dtype=dtype, device=DEVICE), None)


def test_a_wrong_probability_leaves_the_tensor_alone():
    x = torch.full((2,), 7.0, device=DEVICE)
    with pytest.raises(RuntimeError, match=r"expects all probabilities to be in \[0, 1\]"):
        x.bernoulli_(torch.tensor([0.5, math.nan], device=DEVICE))
    assert x.tolist() == [7.0, 7.0]
    bad = torch.ops.aten.rrelu_with_noise
    with pytest.raises(RuntimeError, match="lower=0.5 and upper=0.3"):
        bad(x, torch.empty_like(x), 0.5, 0.3, True)
    with pytest.raises(RuntimeError, match="mask of dtype bool"):
        torch.ops.aten.native_dropout_backward(x, x, 2.0)


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
