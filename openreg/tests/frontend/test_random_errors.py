# Random operators refuse what the CPU refuses; see docs/frontend/random.md.
import math

import pytest
import torch
from random_support import DEVICE, DRAWS


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
    "multinomial r inf": lambda d: torch.multinomial(
        t(1.0, math.inf, device=d), 5, True
    ),
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
        if (name, dtype) == ("random_", torch.uint16):
            return  # the CPU has it with bounds only, the device in any case
        with pytest.raises(type(error)):
            DRAWS[name](torch.empty(3, dtype=dtype, device=DEVICE), None)
    else:
        DRAWS[name](torch.empty(3, dtype=dtype, device=DEVICE), None)


def test_a_wrong_probability_leaves_the_tensor_alone():
    x = torch.full((2,), 7.0, device=DEVICE)
    with pytest.raises(
        RuntimeError, match=r"expects all probabilities to be in \[0, 1\]"
    ):
        x.bernoulli_(torch.tensor([0.5, math.nan], device=DEVICE))
    assert x.tolist() == [7.0, 7.0]
    bad = torch.ops.aten.rrelu_with_noise
    with pytest.raises(RuntimeError, match=r"lower=0\.5 and upper=0\.3"):
        bad(x, torch.empty_like(x), 0.5, 0.3, True)
    with pytest.raises(RuntimeError, match="mask of dtype bool"):
        torch.ops.aten.native_dropout_backward(x, x, 2.0)
