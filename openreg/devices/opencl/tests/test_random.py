"""Random numbers: the same as those that the guide documents, for the same seed."""

import math

import pytest
import torch
from samples import natively
from support import DEVICE, FLOATING, INTEGRAL

M0, M1 = 0xD2511F53, 0xCD9E8D57
MASK = 0xFFFFFFFF


def philox(seed, counter):
    """Philox 4x32-10 in Python: the four random words of a counter."""
    x = [counter & MASK, counter >> 32, 0, 0]
    key = [seed & MASK, seed >> 32]
    for _ in range(10):
        high0, low0 = divmod(M0 * x[0], 1 << 32)
        high1, low1 = divmod(M1 * x[2], 1 << 32)
        x = [high1 ^ x[1] ^ key[0], low1, high0 ^ x[3] ^ key[1], low0]
        key = [(key[0] + 0x9E3779B9) & MASK, (key[1] + 0xBB67AE85) & MASK]
    return x


def words(seed, count):
    return [word for block in range((count + 3) // 4) for word in philox(seed, block)][
        :count
    ]


def wide_words(seed, count):
    narrow = words(seed, 2 * count)
    return [narrow[2 * i] | narrow[2 * i + 1] << 32 for i in range(count)]


def drawn(call, *sizes, dtype=torch.float32, seed=7):
    torch.manual_seed(seed)
    tensor = torch.empty(*sizes, dtype=dtype, device=DEVICE)
    with natively():
        return call(tensor).cpu()


def test_uniform_has_the_documented_bits():
    expected = torch.tensor([(word >> 8) * 2**-24 for word in words(7, 10)])
    assert torch.equal(drawn(lambda x: x.uniform_(), 10), expected)
    wide = [(word >> 11) * 2**-53 for word in wide_words(7, 5)]
    assert drawn(lambda x: x.uniform_(), 5, dtype=torch.float64).tolist() == wide
    half = torch.tensor([(word >> 21) * 2**-11 for word in words(7, 9)]).half()
    assert torch.equal(drawn(lambda x: x.uniform_(), 9, dtype=torch.float16), half)


def test_strides_do_not_matter():
    plain = drawn(lambda x: x.uniform_(), 6, 7)
    torch.manual_seed(7)
    strided = torch.empty(7, 6, device=DEVICE).t().uniform_()
    assert torch.equal(strided.cpu(), plain)


def test_normal_follows_box_and_muller():
    values = drawn(lambda x: x.normal_(1, 2), 6).tolist()
    first = words(7, 6)
    for i in range(0, 6, 2):
        radius = math.sqrt(-2 * math.log(first[i] * 2**-32 + 2**-33))
        place = (first[i + 1] & 0x3FFFFFFF) - 0x20000000
        angle = place * math.pi / 2 * 2**-30 + (first[i + 1] >> 30) * math.pi / 2
        assert values[i] == pytest.approx(1 + 2 * radius * math.cos(angle), abs=1e-5)
        assert values[i + 1] == pytest.approx(
            1 + 2 * radius * math.sin(angle), abs=1e-5
        )


@pytest.mark.parametrize("dtype", FLOATING)
def test_moments_and_bounds(dtype):
    n = 20000
    x = drawn(lambda x: x.uniform_(2, 3), n, dtype=dtype).double()
    assert x.min() >= 2 and x.max() < 3 and abs(x.mean() - 2.5) < 0.02
    x = drawn(lambda x: x.normal_(), n, dtype=dtype).double()
    assert abs(x.mean()) < 0.05 and abs(x.std() - 1) < 0.05
    x = drawn(lambda x: x.exponential_(2), n, dtype=dtype).double()
    assert x.min() > 0 and abs(x.mean() - 0.5) < 0.05
    x = drawn(lambda x: x.log_normal_(0, 1), n, dtype=dtype).double()
    assert abs(x.log().mean()) < 0.05
    x = drawn(lambda x: x.cauchy_(), n, dtype=dtype).double()
    assert abs(x.median()) < 0.05 and x.isfinite().all()


@pytest.mark.parametrize("dtype", [*FLOATING, *INTEGRAL, torch.bool])
def test_integers_and_coins(dtype):
    n = 5000
    expected = [word * 2 >> 64 for word in wide_words(7, 8)]
    values = drawn(lambda x: x.random_(0, 2), n, dtype=dtype)
    assert values[:8].int().tolist() == expected
    assert drawn(lambda x: x.random_(), n, dtype=dtype).min() >= 0
    assert (
        abs(drawn(lambda x: x.bernoulli_(0.25), n, dtype=dtype).double().mean() - 0.25)
        < 0.02
    )
    assert drawn(lambda x: x.bernoulli_(1.0), 9, dtype=dtype).all()
    if dtype != torch.bool:
        x = drawn(lambda x: x.geometric_(0.5), n, dtype=dtype).double()
        assert x.min() >= 1 and abs(x.mean() - 2) < 0.1


def test_coins_of_many_probabilities():
    p = torch.tensor([0.0, 1.0, 0.5, 1e-300, 2**-53, 0.75], dtype=torch.float64)
    torch.manual_seed(3)
    values = torch.bernoulli(p.repeat(1000).to(DEVICE)).cpu().view(1000, 6)
    expected = [
        (w >> 11) * 2**-53 < q
        for w, q in zip(wide_words(3, 60), p.tolist() * 10, strict=True)
    ]
    assert values.flatten()[:60].bool().tolist() == expected


def test_permutation():
    torch.manual_seed(5)
    with natively():
        order = torch.randperm(1000, device=DEVICE).cpu()
    assert order.sort().values.equal(torch.arange(1000))
    expected = list(range(1000))
    for i, word in enumerate(wide_words(5, 999)):
        other = i + (word * (1000 - i) >> 64)
        expected[i], expected[other] = expected[other], expected[i]
    assert order.tolist() == expected


def test_no_elements_and_a_generator():
    with natively():
        torch.empty(0, device=DEVICE).uniform_()
        generator = torch.Generator(DEVICE).manual_seed(7)
        one = torch.rand(8, device=DEVICE, generator=generator)
        assert not torch.equal(
            one.cpu(), torch.rand(8, device=DEVICE, generator=generator).cpu()
        )
    assert torch.equal(one.cpu(), drawn(lambda x: x.uniform_(), 8))
