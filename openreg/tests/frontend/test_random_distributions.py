# The numbers of the random operators, as statistics; see docs/frontend/random.md.
import math

import pytest
import torch
from random_support import DEVICE, N, chi_squared, empty, kolmogorov_smirnov
from torch.testing import assert_close


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(2026)
    torch.openreg.reset_fallback_counts()


def normal_cdf(x: torch.Tensor) -> torch.Tensor:
    return torch.special.ndtr(x)


def log_factorial(k: torch.Tensor) -> torch.Tensor:
    return torch.lgamma(k + 1)


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
    assert kolmogorov_smirnov(empty().uniform_(), lambda x: x**1.2) > 1.95
    assert kolmogorov_smirnov(empty().normal_(0, 1.2), normal_cdf) > 1.95
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


def test_normal_numbers_are_those_of_box_and_muller():
    generator = torch.Generator(DEVICE).manual_seed(11)
    raw = torch.empty(2000, dtype=torch.int64, device=DEVICE)
    raw.random_(-(2**63), None, generator=generator)
    words = raw.cpu().view(torch.int32).double() % 2**32
    generator.manual_seed(11)
    x = torch.randn(4000, device=DEVICE, generator=generator).cpu().double()
    radius = (-2 * ((words[::2] + 0.5) / 2**32).log()).sqrt()
    quarter = (words[1::2] / 2**30).floor()
    angle = (quarter + words[1::2] / 2**30 % 1 - 0.5) * math.pi / 2
    assert_close(x[::2], radius * angle.cos(), atol=2e-6, rtol=2e-6)
    assert_close(x[1::2], radius * angle.sin(), atol=2e-6, rtol=2e-6)


def test_complex_numbers():
    x = empty(torch.complex64).normal_()
    parts = torch.view_as_real(x).cpu()
    assert kolmogorov_smirnov(parts * math.sqrt(2), normal_cdf) < 1.95
    x = torch.rand(N, dtype=torch.complex128, device=DEVICE)
    assert kolmogorov_smirnov(torch.view_as_real(x), lambda x: x) < 1.95


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (1, 2), (-2, -1), (0.1, 0.1), (3, 900)]
)
def test_uniform_numbers_stay_below_the_upper_bound(dtype, low, high):
    x = empty(dtype, 300_000).uniform_(low, high).cpu()
    bounds = torch.tensor([low, high], dtype=dtype)
    assert x.min() >= bounds[0]
    assert (
        x.max() < bounds[1] or low == high == x.max().item() or bounds[0] == bounds[1]
    )


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
        (torch.uint16, 2**16 - 1), (torch.uint32, 2**32 - 1), (torch.uint64, 2**64 - 1),
        (torch.float32, 2**24), (torch.float64, 2**53), (torch.float16, 2**11),
        (torch.bfloat16, 2**8),
    ):  # fmt: skip
        x = empty(dtype, 100_000).random_().cpu()
        assert x.double().min() >= 0, dtype
        assert x.double().max() <= float(top), dtype
        if top > 1:
            distance = kolmogorov_smirnov(x, lambda x, top=top: (x + 0.5) / (top + 1.0))
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


# From here on, a float of the dtype has neighbors at a distance of 2.
STEPS_OF_TWO = {
    torch.half: 2**11,
    torch.bfloat16: 2**8,
    torch.float32: 2**24,
    torch.float64: 2**53,
}


@pytest.mark.parametrize("dtype", STEPS_OF_TWO)
def test_random_stays_below_a_limit_that_rounding_would_reach(dtype):
    start = STEPS_OF_TWO[dtype]
    end = start + 4  # and end - 1 rounds to it
    with pytest.warns(UserWarning, match="to - 1 is out of bounds"):
        x = empty(dtype).random_(start, end).cpu()
        expected = torch.empty(999, dtype=dtype).random_(start, end)
    assert set(x.tolist()) == set(expected.tolist())
    assert max(x.tolist()) < end


UNSIGNED = [torch.uint16, torch.uint32, torch.uint64]


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_random_from_to_without_a_sign(dtype):
    x = empty(dtype).random_(2, 9).cpu()
    assert set(x.tolist()) == set(range(2, 9))
    sevenths = torch.full((7,), 1 / 7).double()
    assert chi_squared(x.long() - 2, lambda k: sevenths) < 4
    assert set(torch.randint(5, (N,), dtype=dtype, device=DEVICE).tolist()) == {
        *range(5)
    }
    top = min(torch.iinfo(dtype).max, 2**63 - 1)
    x = empty(dtype).random_(top // 4, top).cpu().double()
    assert x.min() >= top // 4
    assert kolmogorov_smirnov(x, lambda x: (x - top // 4) / (top - top // 4)) < 1.95


# The other operators that fill a tensor, with the dtypes that have few operators.
FILL = {
    "bernoulli_": lambda t: t.bernoulli_(0.5),
    "cauchy_": lambda t: t.cauchy_(),
    "exponential_": lambda t: t.exponential_(),
    "geometric_": lambda t: t.geometric_(0.5),
    "log_normal_": lambda t: t.log_normal_(),
    "normal_": lambda t: t.normal_(),
    "uniform_": lambda t: t.uniform_(),
    "random_ from below 0": lambda t: t.random_(-1, 3),
    "random_ beyond the dtype": lambda t: t.random_(0, 2**40),
    "randperm": lambda t: torch.randperm(9, dtype=t.dtype, device=t.device),
}


@pytest.mark.parametrize("dtype", UNSIGNED)
@pytest.mark.parametrize("name", FILL)
def test_what_the_cpu_refuses_without_a_sign_is_refused(name, dtype):
    def outcome(device):
        try:
            return FILL[name](torch.zeros(64, dtype=dtype, device=device)).dtype
        except RuntimeError as error:
            return type(error)

    assert outcome(DEVICE) == outcome("cpu")
    torch.accelerator.synchronize()  # the device goes on


def test_random_over_all_64_bits():
    x = empty(torch.int64).random_(-(2**63), None).cpu()
    assert kolmogorov_smirnov(x, lambda x: x / 2.0**64 + 0.5) < 1.95
    # No power of two: the remainder of a division would favor the start.
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
