# Statistics and a table of calls for the tests of random operators; see
# docs/frontend/random.md.
import math

import torch

N = 20_000
DEVICE = "openreg"


def kolmogorov_smirnov(sample: torch.Tensor, cdf) -> float:
    """sqrt(n) times the largest distance of the two distribution functions.

    Of honest samples, one in a thousand exceeds 1.95. The seed is fixed, so each test
    here is reproducible.
    """
    x = sample.cpu().double().flatten().sort().values
    n = len(x)
    steps = torch.arange(n + 1, dtype=torch.float64) / n
    expected = cdf(x)
    distance = max((steps[1:] - expected).max(), (expected - steps[:-1]).max())
    return distance.item() * math.sqrt(n)


def chi_squared(sample: torch.Tensor, probability) -> float:
    """How many deviations a sample of small integers is off its probabilities."""
    values = sample.cpu().long().flatten()
    counts = torch.bincount(values).double()
    expected = probability(torch.arange(len(counts)).double()) * len(values)
    enough = expected >= 8
    terms = (counts - expected)[enough] ** 2 / expected[enough]
    rest = (counts.sum() - counts[enough].sum()) - (
        len(values) - expected[enough].sum()
    )
    total = terms.sum() + rest**2 / max(
        1.0, len(values) - float(expected[enough].sum())
    )
    degrees = int(enough.sum())
    return ((total - degrees) / math.sqrt(2 * degrees)).item()


def correlation(a: torch.Tensor, b: torch.Tensor) -> float:
    stacked = torch.stack([a.cpu().double().flatten(), b.cpu().double().flatten()])
    return torch.corrcoef(stacked)[0, 1].item()


def empty(dtype: torch.dtype = torch.float32, n: int = N) -> torch.Tensor:
    return torch.empty(n, dtype=dtype, device=DEVICE)


# What fills a tensor, with a generator.
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
# What takes a tensor of zeros, of two dimensions.
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
