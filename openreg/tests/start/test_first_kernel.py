# A kernel that is added to the starter; see docs/start/first-kernel.md.
import itertools

import pytest
from starter_build import STARTER, install_starter, run_on_starter

KERNEL = STARTER.parent / "tests/examples/first_kernel/Add.cpp"
PROGRAM = KERNEL.with_name("prove.py")
DTYPES = ["float32", "int64", "float64", "bool"]
ON_DEVICE = {"float32", "int64"}


@pytest.fixture(scope="module")
def run():
    site = install_starter(KERNEL)
    return lambda program: run_on_starter(site, program, "starter")


def test_the_kernel_agrees_with_the_cpu_and_falls_back_where_it_cannot(run):
    process = run(PROGRAM)
    assert process.returncode == 0, process.stderr
    lines = process.stdout.splitlines()
    counts = {(one, other): int(n) for one, other, n in map(str.split, lines[:16])}
    assert list(counts) == list(itertools.product(DTYPES, DTYPES))
    for (one, other), count in counts.items():
        if one == other and one in ON_DEVICE:
            assert count == 1  # nine dimensions
        elif not {one, other} & ON_DEVICE:
            assert count >= 7
    assert [line.partition(":")[0] for line in lines[16:]] == [
        "Expected all tensors to be on the same d",
        "The size of tensor a (4) must match the ",
        "unsupported operation",
        "For integral input tensors, argument alp",
    ]
