# Backward formulas, and an operator with its own; see docs/operators/autograd.md.
import contextlib
import signal
import sys
import warnings

import pytest
import torch
import torch.autograd.forward_ad as forward_ad
from torch.testing import assert_close

cosine = torch.cosine_similarity
rms_norm = torch.nn.functional.rms_norm
JIT = "ignore:.torch.jit.script. is deprecated"  # forward mode imports it


@contextlib.contextmanager
def registered(*kernels):
    """Register (operator, kernel, key) for a while."""
    library = torch.library.Library("aten", "IMPL")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some take the place of another kernel
            for kernel in kernels:
                library.impl(*kernel)
        yield
    finally:
        library._destroy()


def doubles(*sizes: int) -> torch.Tensor:
    torch.manual_seed(0)
    x = torch.randn(sizes, dtype=torch.float64)
    return x.to("openreg").requires_grad_()


# -- a formula of torch's --


def rms_forward(x, shape, weight, eps):
    scale = torch.rsqrt((x * x).mean(-1, keepdim=True) + (eps or 2**-52))
    return x * scale * weight, scale


def rms_backward(grad, x, shape, scale, weight, mask):
    normal, towards = x * scale, grad * weight
    drift = normal * (towards * normal).mean(-1, keepdim=True)
    return scale * (towards - drift), (grad * normal).sum(0)


@pytest.mark.filterwarnings(JIT)
def test_a_formula_works_as_soon_as_the_kernels_it_names_exist():
    x, weight = doubles(2, 3), doubles(3)
    forward = ("_fused_rms_norm", rms_forward, "PrivateUse1")
    backward = ("_fused_rms_norm_backward", rms_backward, "PrivateUse1")
    assert rms_norm(x, (3,), weight).grad_fn.name() == "MulBackward0"  # composite
    with registered(forward):
        y = rms_norm(x, (3,), weight)
        assert y.grad_fn.name() == "FusedRmsNormBackward0"
        with pytest.raises(NotImplementedError, match="_fused_rms_norm_backward"):
            y.sum().backward()
    with registered(forward, backward):

        def call(x, weight):
            return rms_norm(x, (3,), weight)

        on_cpu = call(x.detach().cpu(), weight.detach().cpu())
        assert_close(call(x, weight).detach().cpu(), on_cpu)
        assert torch.autograd.gradcheck(call, (x, weight), check_forward_ad=True)
        assert torch.autograd.gradgradcheck(call, (x, weight))


# -- a kernel that hides a composite one --


def contiguous(x, memory_format=torch.contiguous_format):
    """A separate kernel, which autograd does not look into."""
    with torch._C._AutoDispatchBelowAutograd():
        return x.clone(memory_format=memory_format)


KERNEL = ("contiguous", contiguous, "PrivateUse1")
FALLTHROUGH = ("contiguous", torch.library.fallthrough_kernel, "AutogradPrivateUse1")


def gradient_through_contiguous(x):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y = x.t().contiguous()
        grad_fn = y.grad_fn and y.grad_fn.name()
        (y + x.t()).sum().backward()
    return grad_fn, x.grad.tolist(), [str(warning.message) for warning in caught]


def test_a_kernel_for_a_composite_operator_takes_its_gradient_away():
    x = torch.ones(2, 2, device="openreg", requires_grad=True)
    with registered(KERNEL):
        grad_fn, grad, messages = gradient_through_contiguous(x)
    assert grad_fn == "torch::autograd::WarnNotImplemented"
    assert grad == [[1, 1], [1, 1]]  # 2 would be right
    assert messages
    assert all("autograd kernel was not registered" in text for text in messages)


def test_a_fallthrough_loses_the_gradient_without_a_word():
    x = torch.ones(2, 2, device="openreg", requires_grad=True)
    with registered(KERNEL, FALLTHROUGH):
        assert not x.t().contiguous().requires_grad
        assert gradient_through_contiguous(x) == (None, [[1, 1], [1, 1]], [])


def test_composite_contiguous_keeps_its_gradient_with_a_kernel_for_clone():
    clone = torch.ops.aten.clone.default
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CompositeExplicitAutograd)
    called = []

    def kernel(x, memory_format=None):
        called.append(True)
        return clone.redispatch(keys, x, memory_format=memory_format)

    x = torch.ones(2, 2, device="openreg", requires_grad=True)
    with registered(("clone", kernel, "PrivateUse1")):
        result = gradient_through_contiguous(x)
    assert result == ("CloneBackward0", [[2, 2], [2, 2]], [])
    assert called


@pytest.mark.parametrize("name", ["add.Tensor", "sub.Tensor"])
def test_a_fallthrough_before_a_formula_loses_it(name):
    x = torch.ones(2, device="openreg", requires_grad=True)
    function = getattr(torch, name.split(".")[0])
    with registered((name, torch.library.fallthrough_kernel, "AutogradPrivateUse1")):
        assert not function(x, x).requires_grad
    assert function(x, x).requires_grad


def test_a_fallthrough_for_all_operators_silences_the_warning(run_forked):
    """It replaces torch's own kernel for operators without a derivative."""
    program = """
        import torch, warnings
        def contiguous(x, memory_format=torch.contiguous_format):
            with torch._C._AutoDispatchBelowAutograd():
                return x.clone(memory_format=memory_format)
        every, aten = (torch.library.Library(name, "IMPL") for name in ("_", "aten"))
        every.fallback(torch.library.fallthrough_kernel, "AutogradPrivateUse1")
        x = torch.ones(2, 2, device="openreg", requires_grad=True)
        print(x.t().contiguous().requires_grad, (x + x).requires_grad)
        aten.impl("contiguous", contiguous, "PrivateUse1")
        warnings.simplefilter("error")
        print(x.t().contiguous().requires_grad, (x + x).requires_grad)
    """
    process = run_forked(program)
    assert process.stdout == "True True\nFalse True\n", process.stderr


# -- an operator with its own backward --

SIZES = [((3, 4), (3, 4), 1), ((3, 4), (4,), -1), ((2, 3, 4), (3, 1), 2)]
SIZES += [((2, 3, 4), (1, 3, 4), 0), ((), (), 0), ((0, 4), (0, 4), 1)]
SIZES += [((4, 0), (4, 0), 1)]


def derivatives(a, b, device, dim=1, eps=1e-8, order=2):
    """The cosine, its gradients and theirs, of the same weights on each device."""
    leaves = [x.detach().to(device).requires_grad_() for x in (a, b)]
    result = cosine(*leaves, dim, eps)
    weights = torch.linspace(1, 2, result.numel(), dtype=result.dtype)
    total = (result * weights.view(result.shape).to(device)).sum()
    values = [result]
    for _ in range(order):
        grads = torch.autograd.grad(total, leaves, create_graph=True)
        values += grads
        total = sum((grad.double() ** 3).sum() for grad in grads)
    return [value.detach().cpu() for value in values]


def check_derivatives(a, b, tolerance=1e-7, **options):
    expected = derivatives(a, b, "cpu", **options)
    actual = derivatives(a, b, "openreg", **options)
    assert_close(actual, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("left", "right", "dim"), SIZES)
def test_cosine_similarity_and_two_derivatives_are_those_of_the_cpu(left, right, dim):
    a, b = doubles(*left), doubles(*right)
    check_derivatives(a, b, dim=dim)


def test_cosine_similarity_of_short_vectors_and_of_none():
    a, b = doubles(3, 4).detach(), doubles(3, 4)
    check_derivatives(a, b, eps=1.5)  # some are shorter
    a[1] = 0
    check_derivatives(a, b, order=1)  # the CPU's second derivative is not a number


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_cosine_similarity_promotes_types(dtype):
    a, b = doubles(3, 4).to(dtype), doubles(3, 4) + 1
    tolerance = 8 * torch.finfo(dtype).eps  # the CPU divides before it promotes
    check_derivatives(a, b, tolerance, order=1)
    check_derivatives(b, a, tolerance, order=1)


def test_cosine_similarity_saves_two_tensors_less():
    def saved(device):
        sizes = []
        x, y = (doubles(3, 4).detach().to(device).requires_grad_() for _ in range(2))
        with torch.autograd.graph.saved_tensors_hooks(
            lambda tensor: sizes.append(tuple(tensor.shape)), lambda _: None
        ):
            result = cosine(x, y)
        return result.grad_fn.name(), sizes

    name, sizes = saved("openreg")
    assert "CosineSimilarity" in name
    assert sizes == [(3, 4), (3, 4), (3,)]
    assert len(saved("cpu")[1]) > len(sizes)


@pytest.mark.filterwarnings(JIT)
def test_cosine_similarity_passes_gradcheck_in_each_mode():
    x, y = doubles(3, 4), doubles(4)
    options = {"check_forward_ad": True, "check_batched_grad": True}
    assert torch.autograd.gradcheck(cosine, (x, y), **options)
    assert torch.autograd.gradgradcheck(cosine, (x, y))
    assert torch.autograd.gradcheck(lambda x: cosine(x, y.detach()), x)


@pytest.mark.filterwarnings(JIT)
def test_a_cpp_function_knows_no_forward_mode_so_the_composite_one_is_taken():
    x, y = doubles(3, 4).detach(), doubles(3, 4).detach() + 1
    with forward_ad.dual_level():
        dual = cosine(forward_ad.make_dual(x, y), y)
        tangent = forward_ad.unpack_dual(dual).tangent
    same, transformed = torch.func.jvp(lambda x: cosine(x, y), (x,), (y,))
    assert_close(tangent, transformed)
    assert_close(same, cosine(x, y))
    each = torch.func.vmap(torch.func.grad(lambda x, y: cosine(x, y, 0)))
    assert_close(each(x, y).cpu(), each(x.cpu(), y.cpu()))
    leaf = x.clone().requires_grad_()  # afterwards the function is back
    assert "CosineSimilarity" in cosine(leaf, y).grad_fn.name()


def test_cosine_similarity_refuses_what_the_cpu_refuses():
    x = torch.ones(3, 4, device="openreg")
    whole = torch.ones(3, 4, dtype=torch.int64, device="openreg")
    for a, b, dim, message in (
        (whole, whole, 1, "to be floating point, yet common dtype is Long"),
        (x, x[:, :3], 1, "must match the size"),
        (x, x, 2, "Dimension out of range"),
    ):
        for device in ("cpu", "openreg"):
            with pytest.raises((RuntimeError, IndexError), match=message):
                cosine(a.to(device), b.to(device), dim)
    with pytest.raises(RuntimeError, match="all tensors to be on the same device"):
        cosine(x, x.cpu())


@pytest.mark.parametrize("backend", ["aot_eager", "aot_eager_decomp_partition"])
def test_cosine_similarity_is_compiled(backend):
    """The second backend decomposes as Inductor does, and refuses mutations."""
    x, y = doubles(3, 4), doubles(3, 4)
    compiled = torch.compile(cosine, backend=backend)
    result = compiled(x, y)
    assert_close(result, cosine(x, y))
    (grad,) = torch.autograd.grad(result.sum(), x)
    assert_close(grad, torch.autograd.grad(cosine(x, y).sum(), x)[0])
    with torch.no_grad():
        assert_close(compiled(x, y), cosine(x, y))


@pytest.mark.smoke
def test_an_autograd_kernel_that_does_not_go_below_itself_has_no_end():
    def again(x, y):
        return cosine(x, y)

    with (
        registered(("cosine_similarity", again, "AutogradPrivateUse1")),
        pytest.raises(RecursionError),
    ):
        cosine(doubles(2, 2), doubles(2, 2))


@pytest.mark.smoke
def test_without_a_python_frame_the_recursion_overflows_the_stack(run_forked):
    """Python 3.11 and 3.12 also count calls from C; 3.13 lets the stack overflow."""
    program = """
        import torch, warnings
        warnings.simplefilter("ignore")
        kernel = torch.cosine_similarity  # a function in C++: no frame of Python
        library = torch.library.Library("aten", "IMPL")
        library.impl("cosine_similarity", kernel, "AutogradPrivateUse1")
        x = torch.ones(2, 2, device="openreg")
        kernel(x, x)
    """
    process = run_forked(program)
    if sys.version_info < (3, 13):
        assert process.stderr.splitlines()[-1].startswith("RecursionError: ")
    else:
        assert process.returncode == -signal.SIGSEGV
