# What the sweep does not compare, and why; see docs/ship/sweep.md.
"""Names are those of the database, with the variant after a dot."""

DRAWS = "draws: the device has random numbers of its own"
UNWRITTEN = "returns memory that was not written"

EMPTY = ["empty", "new_empty", "empty_like", "empty_permuted", "empty_strided"]
EMPTY += ["new_empty_strided"]
EMPTY_OVERLOADS = [
    "aten::empty.memory_format",
    *(f"aten::{name}" for name in EMPTY[1:]),
]
EMPTY_OVERLOADS += [f"aten::{name}.out" for name in EMPTY]

# Of these, everything but the values is compared.
ARBITRARY_VALUES = {
    **dict.fromkeys(
        [
            "bernoulli",
            "cauchy",
            "exponential",
            "geometric",
            "log_normal",
            "multinomial",
            "nn.functional.alpha_dropout",
            "nn.functional.dropout",
            "nn.functional.dropout2d",
            "nn.functional.dropout3d",
            "nn.functional.feature_alpha_dropout.with_train",
            "nn.functional.fractional_max_pool2d",
            "nn.functional.fractional_max_pool3d",
            "nn.functional.multi_head_attention_forward",
            "nn.functional.rrelu",
            "nn.functional.scaled_dot_product_attention",
            "normal",
            "normal.in_place",
            "normal.number_mean",
            "pca_lowrank",
            "rand_like",
            "randint",
            "randint_like",
            "randn",
            "randn_like",
            "svd_lowrank",
            "uniform",
        ],
        DRAWS,
    ),
    **dict.fromkeys([*EMPTY, *EMPTY_OVERLOADS], UNWRITTEN),
}

SLICE = "the CPU returns a slice of a larger buffer, which a copy does not have"

# Of these, everything but the strides is compared.
ARBITRARY_STRIDES = {
    "linalg.lstsq": SLICE,
    "linalg.lstsq.grad_oriented": SLICE,
    "nn.functional.scaled_dot_product_attention": "each kernel has its own layout",
}

# Of these, values in bfloat16 and float16 may differ by several roundings.
ROUNDED_ELSEWHERE = {
    "nn.functional.cosine_similarity": "one kernel and its own gradient",
    **dict.fromkeys(
        [
            "nn.functional.linear_cross_entropy.chunked",
            "nn.functional.linear_cross_entropy.chunked_none",
        ],
        "torch adds up in another dtype on a device that it does not know",
    ),
    **dict.fromkeys(
        ["native_batch_norm", "_native_batch_norm_legit", "_batch_norm_with_update"],
        "the CPU rounds more often for tensors that are not contiguous",
    ),
}

# These are not called in a way, because the CPU fails in it.
NOT_CALLED = {
    **dict.fromkeys(
        [
            ("linalg.lu", "out view"),
            ("lu_unpack", "out view"),
            ("narrow_copy", "out view"),
            ("narrow_copy", "out overlap"),
            ("nn.functional.avg_pool2d", "out overlap"),
            ("nn.functional.avg_pool3d", "out overlap"),
        ],
        "the CPU's kernel ignores the strides of out=, and writes beyond its memory",
    ),
    **dict.fromkeys(
        [
            ("grid_sampler_2d", "mistakes"),
            ("grid_sampler_3d", "mistakes"),
            ("lu_unpack", "mistakes"),
            ("_batch_norm_with_update", "mistakes"),
            ("_segment_reduce.lengths", "mistakes"),
            ("_segment_reduce.offsets", "mistakes"),
        ],
        "the CPU's kernel checks no mode, pivots, sizes or lengths, and leaves its "
        "memory",
    ),
    ("resize_", "mistakes"): UNWRITTEN,
    ("resize_as_", "mistakes"): UNWRITTEN,
}

# Of these, only the first argument moves to the device.
HOST_ARGUMENTS = {
    "tensor_split": "takes the places to split at from the CPU, on every device",
}
