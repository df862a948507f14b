"""A subclass that calls quantized products; see docs/modules/quantized-weights.md."""

import copy
import io

import pytest
import torch
import torch.distributed as dist
from int8_weight import Int8Weight, quantize, to_int8
from language_model import compare
from llama import Llama, sentences, shard
from sharded_weight import ShardedInt8Weight
from split_columns import split_columns
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Shard, distribute_tensor
from torch.profiler import ProfilerActivity, profile
from torch.testing import assert_close

pytestmark = pytest.mark.filterwarnings("ignore:Int8Weight does not implement")
KERNELS = {False: "_weight_int8pack_mm", True: "_int_mm"}
WORDS = sentences(2, 0)[0]


def model(dynamic=None):
    torch.manual_seed(0)
    made = Llama().eval()
    return made if dynamic is None else quantize(made, dynamic)


def layer(dynamic):
    torch.manual_seed(0)
    return quantize(torch.nn.Sequential(torch.nn.Linear(24, 8)), dynamic)


def answers(model, device="openreg"):
    with torch.no_grad():
        return model.to(device)(WORDS.to(device)).cpu()


def kernels_of(call):
    with profile(activities=[ProfilerActivity.PrivateUse1]) as prof:
        result = call()
        torch.openreg.synchronize()
    return {event.name for event in prof.events()}, result


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_language_model(dynamic, no_fallback):
    expected, exact = answers(model(dynamic), "cpu"), answers(model(), "cpu")
    names, result = kernels_of(lambda: answers(model(dynamic)))
    assert KERNELS[dynamic] in names
    assert_close(result, expected, rtol=0, atol=1e-5)
    assert (result - exact).norm() / exact.norm() < 0.01


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("dynamic", [False, True])
def test_other_dtypes_change_the_scales_only(dynamic, dtype, no_fallback):
    made = layer(dynamic).to("openreg", dtype)
    weight = made[0].weight
    assert weight.dtype == weight.scales.dtype == dtype
    assert weight.codes.dtype == torch.int8
    x = torch.randn(3, 2, 24)
    with torch.no_grad():
        result = made(x.to("openreg", dtype))
    assert result.dtype == dtype
    bias = made[0].bias.detach().cpu().float()
    expected = x @ weight.dequantize().cpu().float().t() + bias
    assert (result.cpu().float() - expected).norm() / expected.norm() < 0.02


def test_zeros_have_a_scale():
    codes, scales = to_int8(torch.zeros(2, 3, device="openreg"))
    assert not codes.any() and (scales > 0).all()


@pytest.mark.parametrize("device", ["openreg", "openreg:1", "cpu"])
@pytest.mark.parametrize("dynamic", [False, True])
def test_saved_and_loaded(dynamic, device):
    saved = model(dynamic).to("openreg")
    file = io.BytesIO()
    torch.save(saved.state_dict(), file)
    file.seek(0)
    with torch.serialization.safe_globals([Int8Weight]):
        state = torch.load(file, map_location=device)
    assert state["out.weight"].codes.device.type == torch.device(device).type
    loaded = model(dynamic).to(device)
    with torch.no_grad():
        for weight in loaded.parameters():
            if isinstance(weight, Int8Weight):
                weight.codes.zero_()
    loaded.load_state_dict(state)
    assert loaded.out.weight.dynamic == dynamic
    assert_close(answers(loaded, device), answers(saved), rtol=0, atol=1e-5)


def test_a_file_needs_the_class():
    file = io.BytesIO()
    torch.save(layer(False).state_dict(), file)
    file.seek(0)
    with pytest.raises(Exception, match="Unsupported global: GLOBAL int8_weight"):
        torch.load(file)


def test_copies():
    made = layer(False).to("openreg")
    other = copy.deepcopy(made)
    other[0].weight.codes.zero_()
    assert made[0].weight.codes.any() and other[0].weight.requires_grad is False


def test_other_operators_are_refused():
    weight = layer(False).to("openreg")[0].weight
    with pytest.raises(NotImplementedError, match=r"aten.add.Tensor of an Int8Weight"):
        weight + 1
    with pytest.raises(NotImplementedError, match=r"aten.copy_.default of an Int8W"):
        weight.copy_(torch.ones(8, 24, device="openreg"))


@pytest.mark.parametrize(
    ("dynamic", "backend"), [(False, "aot_eager"), (True, "inductor")]
)
def test_compiled(dynamic, backend, inductor):
    made, x = layer(dynamic).to("openreg"), torch.randn(3, 24, device="openreg")
    with torch.no_grad():
        expected = made(x)
        compiled = torch.compile(made, backend=backend, fullgraph=True)
        compiled(x)
        names, result = kernels_of(lambda: compiled(x))
    assert KERNELS[dynamic] in names
    assert any("fused" in name for name in names) == (backend == "inductor")
    assert_close(result, expected)


def test_a_trained_model_keeps_its_loss(no_fallback):
    (_, size, loss, right, _), *others = compare("openreg", steps=30)
    for _, other_size, other_loss, other_right, times in others:
        assert times > 0
        assert 3 * other_size < size
        assert abs(other_loss - loss) < 0.01
        assert abs(other_right - right) < 0.01
    assert loss < 4  # that of an untrained model is 4.16


def compute_in_parts(state, dynamic):
    made, x = layer(dynamic).to("openreg"), torch.ones(3, 24, device="openreg")
    with torch.no_grad():
        expected = made(x)
        split_columns(made[0], dist.group.WORLD)
        result = made(x)
    return tuple(made[0].weight.shape), expected.cpu(), result.cpu()


@pytest.mark.parametrize("dynamic", [False, True])
def test_each_rank_keeps_some_rows(two, dynamic):
    for shape, expected, result in two.run(compute_in_parts, dynamic):
        assert shape == (4, 24)
        assert_close(result, expected, rtol=0, atol=1e-6)


def compute_sharded(state, dynamic):
    made = quantize(model(), dynamic, ShardedInt8Weight).to("openreg")
    words = WORDS.to("openreg")
    with torch.no_grad():
        expected = made(words)
        shard(made, init_device_mesh("openreg", (2,)))
        kept = made.out.weight.to_local()
        results = [made(words).cpu() for _ in range(2)]
    assert type(kept) is ShardedInt8Weight and kept.dynamic == dynamic
    return tuple(kept.codes.shape), tuple(kept.scales.shape), expected.cpu(), results


@pytest.mark.parametrize("dynamic", [False, True])
def test_fsdp_keeps_some_rows_and_gathers_codes(two, dynamic):
    """The second call takes the path of a parameter that was gathered before."""
    for codes, scales, expected, results in two.run(compute_sharded, dynamic):
        assert codes == (32, 32) and scales == (32,)  # of 64 words
        for result in results:
            assert_close(result, expected, rtol=0, atol=1e-5)


def test_sharded_parameters_are_refused(alone):
    made, mesh = layer(False).to("openreg"), init_device_mesh("openreg", (1,))
    words = r"aten.split.Tensor of an Int8Weight"
    with pytest.raises(NotImplementedError, match=words):
        distribute_tensor(made[0].weight, mesh, [Shard(0)])
    with pytest.raises(NotImplementedError, match=words):
        fully_shard(made, mesh=mesh)
