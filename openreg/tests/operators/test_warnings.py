# Compares when and how operators warn; see docs/runtime/faults.md.
"""A warning belongs to the call that causes it, not to a later one that waits."""

import itertools
from collections import Counter

import pytest
import torch
from sweep.calls import call, caught, with_warnings
from sweep.exceptions import NOT_CALLED
from sweep.mirror import mirror
from torch.testing._internal.common_methods_invocations import op_db

SAMPLES = 20
SKIPPED = {name for name, way in NOT_CALLED}
LATE = {"linalg.vector_norm"}  # warns in the kernel: docs/ship/known-gaps-streams.md
PARTS = (
    "The CPU computes the variance of each part of a complex number, and each warns."
)
COPIES = "The fallback makes compressed tensors of its copies, and each warns."
# These warn more or less often than on the CPU; docs/runtime/faults.md has the reasons.
COUNTED_ELSEWHERE = {
    **{
        (f"{name}{kind}", torch.complex64): PARTS
        for name in ("var", "std", "var_mean", "std_mean")
        for kind in ("", "_unbiased")
    },
    ("sparse_sampled_addmm", torch.complex64): COPIES,
    ("sparse_mm_reduce", torch.float32): COPIES,
}
VARIANCES = [torch.var, torch.std, torch.var_mean, torch.std_mean]


@pytest.mark.parametrize("function", VARIANCES)
@pytest.mark.parametrize("correction", [0, 1, 2, 2.5, 4])
def test_variance_without_a_degree_of_freedom(function, correction):
    def warned(device):
        full, empty = torch.zeros(2, 2, device=device), torch.empty(0, 3, device=device)
        found = []
        for x, dim in [(full, -1), (full, None), (empty, 0), (empty, 1), (empty, None)]:
            found.append(
                with_warnings(lambda x=x, d=dim: function(x, d, correction=correction))
            )
        return [text for _, text in found]

    expected = warned("cpu")
    assert any(expected)
    assert warned("openreg") == expected


def test_var_out_of_a_view():
    memory = torch.zeros(3, device="openreg")
    empty = torch.empty(0, device="openreg")
    _, text = with_warnings(lambda: torch.var(empty, out=memory[1]))
    assert text.startswith("var(): degrees of freedom is <= 0")
    assert memory.isnan().tolist() == [False, True, False]


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool])
@pytest.mark.parametrize("source", ["cpu", "openreg"])
@pytest.mark.parametrize("target", ["cpu", "openreg"])
def test_complex_numbers_lose_their_imaginary_part(dtype, source, target):
    x = torch.full((2,), 1 + 2j, device=source)
    result, text = with_warnings(lambda: x.to(target, dtype))
    assert result.tolist() == torch.ones(2, dtype=dtype).tolist()
    said = text.startswith("Casting complex values to real discards")
    assert said == (dtype != torch.bool)


def test_index_reduce_is_new():
    zeros, index = torch.zeros(3, device="openreg"), torch.arange(3, device="openreg")
    result, text = with_warnings(
        lambda: zeros.index_reduce(0, index, zeros + 1, "amax")
    )
    assert text.startswith("index_reduce() is in beta")
    assert result.tolist() == [1, 1, 1]


def test_complex_half_is_new():
    _, text = with_warnings(
        lambda: torch.empty(2, dtype=torch.complex32, device="openreg")
    )
    assert text.startswith("ComplexHalf support is experimental")


@pytest.mark.filterwarnings("ignore")  # making the samples also warns
@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64, torch.int64])
def test_every_operator_warns_on_the_call(dtype):
    wrong, other_counts, warned = [], set(), 0
    for op in op_db:
        if dtype not in op.dtypes or op.name in SKIPPED | LATE:
            continue
        made = op.sample_inputs_func(op, "cpu", dtype, False)
        for sample in itertools.islice(made, SAMPLES):
            there = mirror(sample, "openreg")
            expected = _given(lambda o=op, s=sample: _result(o, s))
            found = _given(lambda o=op, s=there: _result(o, s))
            late = _given(torch.openreg.synchronize)
            warned += bool(expected)
            if late or expected.keys() - found.keys():
                wrong.append((op.formatted_name, found, expected, late))
            elif found != expected:
                other_counts.add((op.formatted_name, dtype))
    assert warned > 10
    assert not wrong
    assert other_counts == {case for case in COUNTED_ELSEWHERE if case[1] == dtype}


def _given(attempt):
    """Count the warnings by their first words."""
    return Counter(caught(attempt)[1])


def _result(op, sample):
    try:
        return call(op, sample)
    except Exception as error:
        return type(error)
