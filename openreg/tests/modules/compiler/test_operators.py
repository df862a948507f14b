# The operator database, compiled for the device; see docs/modules/compile-inductor.md.
# By nox -s compiler: -- -k softmax compiles some of it, -- --record keeps the counts.
import warnings

import pytest
import torch
from torch._inductor.utils import run_and_get_code
from torch.testing import assert_close
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten, tree_map_only

pytestmark = pytest.mark.usefixtures("inductor", "_traceable_state")

# Their values are random, or not those of the sample alone.
NOT_COMPARED = ("bernoulli", "cauchy", "dropout", "empty", "exponential", "geometric")
NOT_COMPARED += ("log_normal", "multinomial", "rand", "rrelu", "uniform")
ENTRIES = {
    f"{op.name}{'.' * bool(op.variant_test_name)}{op.variant_test_name}": op
    for op in op_db
    if torch.float32 in op.dtypes
    and op.name != "normal"
    and not any(name in op.name for name in NOT_COMPARED)
}
# Why a compiled function may fail: whichever of these also fails.
EXPECTED_ERRORS = [
    ("the error of eager mode", "openreg", False),
    ("the error of the CPU", "cpu", True),
]


@pytest.fixture
def _traceable_state(monkeypatch):
    """Some entries set the state of generators where Dynamo cannot trace anything."""
    call = torch.compiler.disable(torch.openreg.set_rng_state)
    monkeypatch.setattr(torch.openreg, "set_rng_state", call)


def run(op, device, sample, compiled=True):
    """Call the operator on a device, and return the tensors that it returns."""
    torch._dynamo.reset()

    def move(x):
        return x.detach().to(device, copy=True)

    # The operator is a constant of the program, as in a user's function.
    call = lambda *args, **kwargs: op(*args, **kwargs)  # noqa: E731
    *args, kwargs = tree_map_only(
        torch.Tensor, move, (sample.input, *sample.args, sample.kwargs)
    )
    kwargs = {k: device if k == "device" else v for k, v in kwargs.items()}
    result = (torch.compile(call) if compiled else call)(*args, **kwargs)
    return [x.cpu() for x in tree_flatten(result)[0] if isinstance(x, torch.Tensor)]


def verdict(op):
    """Compare an operator with the CPU: eager mode, or compiled where that differs.

    Returns:
        what the compiled function consists of on the device.
    """
    sample = next(op.sample_inputs_func(op, "cpu", torch.float32, requires_grad=False))
    try:
        values, sources = run_and_get_code(run, op, "openreg", sample)
    except Exception:
        for kind, device, compiled in EXPECTED_ERRORS:
            try:
                run(op, device, sample, compiled)
            except Exception:
                return kind
        raise
    try:
        assert_close(values, run(op, "cpu", sample, compiled=False), equal_nan=True)
    except AssertionError:
        assert_close(values, run(op, "cpu", sample), equal_nan=True)
    kernels = "\n".join(sources).count("openreg::cpu::launch_on(")
    return "fused kernels" if kernels else "operators" if sources else "no graph"


@pytest.mark.parametrize("name", ENTRIES)
def test_an_operator_has_the_values_of_the_cpu(name, record_property):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        record_property("verdict", verdict(ENTRIES[name]))
