# Mixed precision: dtypes, caches, scalers and training; see docs/modules/amp.md.
import threading

import pytest
import torch
from autocast_table import CUDA_BUILD, PAGE, page, policies, registered
from torch import nn
from torch.amp import GradScaler, custom_bwd, custom_fwd
from torch.testing import assert_close
from torch.testing._internal.autocast_test_lists import (
    AutocastTestLists,
    TestAutocast,
)
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint
from torch_release import has_changed

HALVES = [torch.float16, torch.bfloat16]


def autocast(**options):
    return torch.autocast("openreg", **options)


class Lists(AutocastTestLists):
    """Torch's calls of the operators of its lists, with tensors of the device."""

    def __init__(self):
        super().__init__(torch.device("openreg"))
        halves = [call for call in self.torch_fp16 if "cudnn" not in call[0]]
        self.calls = {
            "lower": [(call, torch) for call in halves],
            "fp32": [(call, torch) for call in self.torch_fp32],
            "promote": [(call, torch) for call in self.torch_need_autocast_promote],
        }
        self.calls["lower"] += [(call, torch._C._linalg) for call in self.linalg_fp16]
        self.calls["lower"] += [(call, torch._C._nn) for call in self.nn_fp16]
        self.calls["lower"] += [(call, None) for call in self.methods_fp16]
        self.calls["fp32"] += [(call, torch._C._nn) for call in self.nn_fp32]
        self.calls["fp32"] += [(call, None) for call in self.methods_fp32]


LISTS = Lists()


@pytest.mark.filterwarnings("ignore:Using torch.cross without")
@pytest.mark.filterwarnings("ignore:torch.chain_matmul is deprecated")
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("kind", ["lower", "fp32", "promote"])
def test_operators_compute_in_the_dtype_of_their_list(kind, dtype):
    run = TestAutocast()._run_autocast_outofplace
    calls = LISTS.calls[kind]
    assert len(calls) > 5
    for (name, arguments, *rest), module in calls:
        if name == "einsum":
            continue  # as torch's test does: another one is below
        if kind == "promote":
            arguments = like(arguments, dtype)
        options = {"add_kwargs": rest[0]} if rest and isinstance(rest[0], dict) else {}
        run_as = dtype if kind == "lower" else torch.float32
        # Bit by bit what casts by hand give, with autocast off.
        run(
            name, arguments, run_as, "openreg", None, module, amp_dtype=dtype, **options
        )


def like(arguments, dtype):
    """The arguments, with ``dtype`` for float16."""
    if isinstance(arguments, torch.Tensor):
        return arguments.to(dtype) if arguments.dtype == torch.float16 else arguments
    if isinstance(arguments, (tuple, list)):
        return type(arguments)(like(argument, dtype) for argument in arguments)
    return arguments


def test_einsum():
    x = torch.randn(2, 3, device="openreg")
    with autocast():
        product = torch.einsum("ij,kj->ik", x, x)
    assert product.dtype == torch.float16
    assert torch.equal(product, x.half() @ x.half().t())


@pytest.mark.smoke
def test_all_three_lists_are_registered():
    ours = registered("AutocastPrivateUse1")
    assert set(policies()) <= ours
    assert ours - set(policies()) == {"binary_cross_entropy"}
    of_cuda = {"cudnn_convolution", "cudnn_convolution_transpose"}
    if torch.version.cuda:
        of_cuda |= CUDA_BUILD
    if has_changed("autocast has the root of a symmetric matrix"):
        of_cuda.add("linalg_matrix_sqrth")  # it is not in the header with the lists
    assert registered("AutocastCUDA") - ours == of_cuda


@pytest.mark.smoke
def test_the_table_is_fresh():
    hint = "run: python openreg/tests/tools/autocast_table.py"
    shown = PAGE.read_text()
    release = torch.__version__.partition("+")[0]
    is_of_this_torch = f"torch {release}." in shown
    assert (shown == page()) == is_of_this_torch, hint


def test_unsafe_operator_is_refused():
    x = torch.rand(3, device="openreg")
    with autocast(), pytest.raises(NotImplementedError, match="unsafe under autocast"):
        nn.functional.binary_cross_entropy(x, x)
    with autocast():
        nn.functional.binary_cross_entropy_with_logits(x, x)
        with autocast(enabled=False):
            nn.functional.binary_cross_entropy(x, x)


def test_the_default_is_half():
    assert torch.get_autocast_dtype("openreg") == torch.float16
    x = torch.ones(2, 2, device="openreg")
    with autocast():
        assert (x @ x).dtype == torch.float16


@pytest.mark.parametrize("dtype", [torch.float64, torch.int8])
def test_other_dtypes_switch_it_off(dtype):
    x = torch.ones(2, 2, device="openreg")
    with pytest.warns(UserWarning, match="openreg Autocast only supports dtypes of"):
        context = autocast(dtype=dtype)
    with context:
        assert (x @ x).dtype == torch.float32


def test_nesting():
    x = torch.ones(2, 2, device="openreg")
    with autocast(dtype=torch.bfloat16):
        y = x @ x
        with autocast(enabled=False):
            assert (x @ x).dtype == torch.float32
            with pytest.raises(RuntimeError, match="same dtype"):
                y @ x
        with autocast(dtype=torch.float16):
            assert (y @ x).dtype == torch.float16
        assert (y @ x).dtype == torch.bfloat16
    assert (x @ x).dtype == torch.float32


def test_it_is_of_one_device_and_one_thread():
    x = torch.ones(2, 2)
    seen = {}

    def other():
        d = x.to("openreg")
        seen["thread"] = (d @ d).dtype

    with autocast():
        assert (x @ x).dtype == torch.float32
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert seen["thread"] == torch.float32


def test_doubles_and_integers_stay():
    x = torch.ones(2, 2, device="openreg")
    with autocast():
        assert (x.double() @ x.double()).dtype == torch.float64
        assert (x.long() @ x.long()).dtype == torch.int64


def test_in_place_and_out_are_as_written():
    x = torch.ones(2, 2, device="openreg")
    out = torch.empty_like(x)
    with autocast():
        torch.mm(x, x, out=out)
        assert x.clone().addmm_(x, x).dtype == out.dtype == torch.float32
        with pytest.raises(RuntimeError, match="dtype"):
            x.half().addmm_(x, x)


class CountCasts(TorchDispatchMode):
    casts = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.casts += func is torch.ops.aten._to_copy.default
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(("cache", "casts"), [(True, 3), (False, 4)])
def test_weights_are_cast_once(cache, casts):
    weight = torch.ones(2, 2, device="openreg", requires_grad=True)
    x = torch.ones(2, 2, device="openreg")
    with CountCasts() as count, autocast(cache_enabled=cache):
        x @ weight
        x @ weight
    assert count.casts == casts
    with CountCasts() as count, autocast():
        x.half() @ weight  # the cache lived as long as the context
    assert count.casts == 2


class Cube(torch.autograd.Function):
    @staticmethod
    @custom_fwd(device_type="openreg", cast_inputs=torch.float32)
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x @ x @ x

    @staticmethod
    @custom_bwd(device_type="openreg")
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        Cube.backward_dtype = (grad @ x).dtype
        return 3 * grad * x * x


def test_a_function_of_your_own():
    x = torch.ones(2, 2, device="openreg", dtype=torch.float16, requires_grad=True)
    with autocast():
        y = Cube.apply(x)
    assert y.dtype == torch.float32
    y.sum().backward()
    assert (Cube.backward_dtype, x.grad.dtype) == (torch.float32, torch.float16)


def test_a_checkpoint_computes_in_the_same_dtype():
    torch.manual_seed(0)
    layer = nn.Linear(4, 4).to("openreg")
    x = torch.randn(3, 4, device="openreg")
    dtypes = []

    def run(x):
        y = layer(x)
        dtypes.append(y.dtype)
        return y.tanh()

    with autocast(dtype=torch.bfloat16):
        loss = checkpoint(run, x, use_reentrant=False).float().sum()
    loss.backward()
    assert dtypes == [torch.bfloat16] * 2
    assert layer.weight.grad.dtype == torch.float32


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20, 16)
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.convolution = nn.Conv1d(16, 16, 3, padding=1)
        self.head = nn.Linear(16, 5)

    def forward(self, words):
        hidden = self.encoder(self.words(words)).transpose(1, 2)
        return self.head(self.convolution(hidden).mean(2))


def train(device, dtype):
    torch.manual_seed(0)
    model = Network().to(device)
    words, targets = torch.randint(20, (8, 6)), torch.randint(5, (8,))
    words, targets = words.to(device), targets.to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    scaler = GradScaler(device, enabled=dtype == torch.float16)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        with torch.autocast(device, dtype=dtype, enabled=dtype is not None):
            outputs = model(words)
            loss = nn.functional.cross_entropy(outputs, targets)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    assert outputs.dtype == (dtype or torch.float32)
    return losses


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_training_converges_as_on_the_cpu(dtype):
    with torch.openreg.fallbacks() as counts:
        losses = train("openreg", dtype)
    assert not counts
    assert losses[-1] < 0.2 * losses[0]
    exact = train("cpu", None)
    assert losses != exact
    assert_close(losses, exact, rtol=0.05, atol=0.05)
    assert_close(losses, train("cpu", dtype), rtol=0.05, atol=0.05)


@pytest.mark.parametrize("bad", [float("inf"), float("nan")])
def test_the_scaler_leaves_out_a_bad_step(bad):
    states = []
    for device in ("openreg", "cpu"):
        weight = nn.Parameter(torch.ones(3, device=device))
        optimizer = torch.optim.SGD([weight], lr=0.5)
        scaler = GradScaler(device, init_scale=8.0, growth_interval=2)
        history = []
        for step in range(5):
            optimizer.zero_grad()
            factor = bad if step == 2 else 1.0
            scaler.scale((weight * factor).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
            history.append((scaler.get_scale(), weight.tolist()))
        states.append((history, scaler.state_dict()))
    assert states[0] == states[1]
    history = states[0][0]
    assert history[2][1] == history[1][1] != history[0][1]  # no step
    assert [scale for scale, _ in history] == [8.0, 16.0, 8.0, 8.0, 16.0]


def test_export_keeps_the_context():
    class Module(nn.Module):
        def forward(self, x):
            with torch.autocast("openreg", dtype=torch.bfloat16):
                return x @ x

    x = torch.ones(2, 2, device="openreg")
    program = torch.export.export(Module(), (x,))
    assert program.module()(x).dtype == torch.bfloat16
