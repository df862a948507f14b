# The operator database, compiled for the device; see docs/modules/compile-inductor.md.
# By nox -s compiler: -- -k softmax compiles some of it.
import warnings

import pytest
import torch
from torch.testing import assert_close
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten, tree_map_only

pytestmark = pytest.mark.usefixtures("inductor")

# Their values are random, or not those of the sample alone.
NOT_COMPARED = ("bernoulli", "dropout", "empty", "multinomial", "normal", "rand")
ENTRIES = {
    f"{op.name}{'.' * bool(op.variant_test_name)}{op.variant_test_name}": op
    for op in op_db
    if torch.float32 in op.dtypes and not any(n in op.name for n in NOT_COMPARED)
}


def tensors(result):
    return [x.cpu() for x in tree_flatten(result)[0] if isinstance(x, torch.Tensor)]


def compiled(op, device, sample):
    """Compile the operator for a device, and return the tensors that it returns."""
    torch._dynamo.reset()

    def move(x):
        return x.detach().to(device, copy=True)

    # The operator is a constant of the program, as in a user's function.
    call = torch.compile(lambda *args, **kwargs: op(*args, **kwargs))
    moved = tree_map_only(
        torch.Tensor, move, (sample.input, *sample.args, sample.kwargs)
    )
    kwargs = {k: device if k == "device" else v for k, v in moved[-1].items()}
    return tensors(call(*moved[:-1], **kwargs))


@pytest.mark.parametrize("name", ENTRIES)
def test_an_operator_has_the_values_of_the_cpu(name):
    op = ENTRIES[name]
    sample = next(op.sample_inputs_func(op, "cpu", torch.float32, requires_grad=False))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = compiled(op, "cpu", sample)
        except Exception as error:  # the device fails in the same way
            with pytest.raises(type(error)):
                compiled(op, "openreg", sample)
            return
        assert_close(compiled(op, "openreg", sample), expected, equal_nan=True)
