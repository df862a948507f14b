# The known exceptions of the ways with views, transforms and mistakes; see
# docs/ship/sweep.md.
from .known_case import Known


def some(
    ways: str,
    verdict: str,
    match: str,
    operators: str,
    cause: str,
    rare: bool = False,
    unsteady: bool = False,
) -> Known:
    """Make an entry that holds with some samples only.

    Args:
        ways: separated by commas.
        operators: separated by spaces.
        rare: only a run of all samples meets one of them.
        unsteady: some runs do not meet it.
    """
    names = tuple(ways.split(", ")), tuple(operators.split())
    return Known(names[1], names[0], verdict, match, cause, (), False, rare, unsteady)


OUTS = "out view, out shape"
ERROR, WRONG = "error", "wrong value"

KNOWN_OF_WAYS = [
    # -- values that only the device has --
    some(
        "mistakes",
        ERROR,
        "AcceleratorError: .*(out of (bounds|range|DATA)|not in the valid range|"
        "< number of ones in mask|offsets\\[-1\\] can not be greater)",
        "__getitem__ gather index_add index_copy index_fill index_put "
        "index_reduce.amax index_reduce.amin index_reduce.mean index_reduce.prod "
        "index_select masked_scatter "
        "nn.functional.embedding_bag nn.functional.multi_margin_loss put scatter "
        "scatter_add scatter_reduce.amax scatter_reduce.amin scatter_reduce.mean "
        "scatter_reduce.prod scatter_reduce.sum take take_along_dim "
        "nn.functional.nll_loss nn.functional.cross_entropy nn.functional.one_hot "
        "nn.functional.linear_cross_entropy",
        "Only the device has the indices. It stops, as CUDA does.",
    ),
    some(
        "mistakes",
        WRONG,
        "no error, but on the CPU: (RuntimeError: (index .* is out of bounds|"
        "setStorage)|IndexError: index out of range in self)",
        "scatter scatter_add index_add index_copy index_reduce.amax index_reduce.amin "
        "index_reduce.mean index_reduce.prod scatter_reduce.amax scatter_reduce.amin "
        "scatter_reduce.mean scatter_reduce.prod scatter_reduce.sum",
        "The device checks no index where it has nothing to write.",
    ),
    some(
        "mistakes",
        WRONG,
        "no error, but on the CPU: RuntimeError: ZeroDivisionError",
        "unravel_index",
        "Torch divides by the sizes. A device returns a value for a division by zero.",
        rare=True,
    ),
    some(
        "mistakes",
        ERROR,
        r"RuntimeError: index_select\(\): self indexing axis",
        "nn.functional.embedding",
        "With max_norm, the CPU selects rows first, and that has other errors.",
        rare=True,
    ),
    # -- arguments that the CPU does not check --
    some(
        "mistakes",
        ERROR,
        "RuntimeError: (.* should contain|mixed dtype|TensorAccessor expected|"
        "openreg: batch_norm: expected an input of at least 2 dimensions)",
        "native_batch_norm _native_batch_norm_legit",
        "The CPU checks no sizes of these, and reads beyond their end, nor all dtypes.",
    ),
    some(
        "mistakes",
        WRONG,
        "not close",
        "_native_batch_norm_legit",
        "The CPU reads beyond the end of a bias without elements.",
        unsteady=True,
    ),
    # -- what a device does better than the CPU, or as CUDA does --
    some(
        "mistakes",
        ERROR,
        "NotImplementedError: .* not implemented for|expected scalar type",
        "aminmax kthvalue nn.functional.binary_cross_entropy mode renorm "
        "nn.functional.embedding",
        "The device refuses a dtype before it checks anything else. The CPU has "
        "other errors first, or none without elements.",
    ),
    some(
        "mistakes",
        ERROR,
        "found ComplexFloat|not implemented for 'ComplexFloat'",
        "nn.functional.smooth_l1_loss nn.functional.mse_loss bucketize searchsorted",
        "The same, for complex numbers alone.",
    ),
    some(
        "mistakes",
        WRONG,
        "no error, but on the CPU: .*(not implemented for|does not support)",
        "histc nn.functional.max_pool1d nanmean nansum",
        "The device has a dtype that CUDA has and the CPU lacks.",
    ),
    some(
        "mistakes",
        WRONG,
        "no error, but on the CPU: NotImplementedError: .*not implemented for",
        "aminmax nn.functional.adaptive_avg_pool3d nn.functional.avg_pool1d "
        "nn.functional.avg_pool3d nn.functional.logsigmoid nn.functional.unfold",
        "The device checks no dtype where no tensor has an element.",
        rare=True,
    ),
    some(
        "refusal",
        WRONG,
        "narrow\\(\\): length must be non-negative",
        "narrow_copy",
        "The CPU has a kernel that checks less well than the composite one.",
    ),
    some(
        "mistakes",
        ERROR,
        "IndexError: Dimension out of range",
        "narrow_copy",
        "The CPU has a kernel that checks less well than the composite one.",
    ),
    some(
        "mistakes",
        WRONG,
        "shape torch.Size",
        "addmv nn.functional.pixel_unshuffle",
        "The CPU returns another shape than it documents for no elements.",
    ),
    some(
        "mistakes",
        WRONG,
        "no error, but on the CPU: RuntimeError: (allocated size|The expanded size|"
        "linalg.vector_norm cannot compute)",
        "repeat_interleave renorm",
        "The device checks no argument that it does not need without elements.",
        rare=True,
    ),
    some(
        "mistakes",
        ERROR,
        "RuntimeError: (Input type|Trying to create tensor with negative dimension|"
        "openreg: native_dropout_backward expects)",
        "nn.functional.conv_transpose1d nn.functional.conv_transpose2d "
        "nn.functional.conv1d nn.functional.conv2d nn.functional.conv3d "
        "nn.functional.pad.reflect "
        "native_dropout_backward",
        "The device checks an argument that the CPU leaves unchecked.",
    ),
    # -- warnings --
    some(
        OUTS,
        WRONG,
        "An output with one or more elements was resized si' instead of ''",
        "kthvalue mode nn.functional.logsigmoid",
        "The CPU resizes these outputs without the usual warning.",
    ),
    some(
        OUTS,
        WRONG,
        "Casting complex values to real discards",
        "cumprod cumsum eq logical_and logical_or logical_xor logsumexp mean ne "
        "linalg.vector_norm",
        "The kernel converts the result, and a kernel cannot warn its caller.",
    ),
    some(
        OUTS,
        WRONG,
        "tensor is non-co",
        "searchsorted",
        "The device warns of slow arguments before it checks the output. Each device "
        "warns once in a process.",
    ),
    # -- dtypes of out= --
    some(
        "out shape",
        WRONG,
        "'raises (RuntimeError|NotImplementedError)' instead of",
        "cumsum cumprod max.reduction_no_dim min.reduction_no_dim mean",
        "The device refuses a dtype of out= that the CPU converts to or refuses later.",
    ),
    some(
        "out shape",
        WRONG,
        "'raises RuntimeError' instead of",
        "add",
        "Torch compares a boolean alpha with the dtype of the result on every device "
        "but the CPU.",
        rare=True,
    ),
    some(
        "out shape",
        WRONG,
        "TreeSpec|not close",
        "native_batch_norm _native_batch_norm_legit",
        "The CPU leaves statistics that it does not need as they were, and refuses "
        "other dtypes later.",
    ),
    some(
        "out shape",
        WRONG,
        "not close",
        "linalg.lstsq",
        "LAPACK computes with float32, and out= has float64: the values have the "
        "precision of the arguments.",
        rare=True,
    ),
    some(
        "strided, vmap",
        WRONG,
        "no error, but on the CPU: .*is_contiguous|TreeSpec",
        "native_group_norm",
        "The device copies an input that is not contiguous, which the CPU refuses.",
        unsteady=True,
    ),
    some(
        "mistakes",
        ERROR,
        "AcceleratorError: .*allocated size does not match",
        "repeat_interleave",
        "Only the device has the numbers of repetitions.",
        rare=True,
        unsteady=True,
    ),
    # -- transforms --
    some(
        "double backward",
        ERROR,
        "_scaled_dot_product_(efficient_attention|fused_attention_overrideable)"
        "_backward is not implemented",
        "nn.functional.scaled_dot_product_attention",
        "Torch has no second derivative of fused attention, on CUDA either.",
    ),
    some(
        "backward, double backward, vmap",
        WRONG,
        "strides",
        "ormqr linalg.solve linalg.solve_ex linalg.solve_triangular linalg.tensorsolve",
        "A composite kernel chooses the layout by the device. The values are the same.",
    ),
    some(
        "double backward",
        WRONG,
        "not close",
        "linalg.householder_product linalg.lstsq linalg.lstsq.grad_oriented "
        "index_reduce.prod",
        "Sums in another order, since the arguments have other strides.",
    ),
    # -- settings --
    some(
        "launched",
        WRONG,
        "not close",
        "nn.functional.conv2d nn.functional.conv3d nn.functional.conv_transpose1d "
        "nn.functional.conv_transpose2d nn.functional.conv_transpose3d "
        "matmul __rmatmul__",
        "A convolution and a product ask when they run whether they may use oneDNN, "
        "which rounds elsewhere.",
    ),
    some(
        "launched",
        WRONG,
        "not close",
        "nn.functional.interpolate.trilinear",
        "Where results must be deterministic, torch composes this operator of others "
        "on every device but the CPU. They round bfloat16 more often.",
    ),
    some(
        "out shape",
        WRONG,
        "instead of 'raises RuntimeError'",
        "std var",
        "The CPU does not reduce bfloat16 or float16 to one wider number. CUDA does.",
    ),
]
