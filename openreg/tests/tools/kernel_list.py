# Lists the kernels that go through the table; see docs/operators/structured.md.
"""Find them in the sources of the backend."""

import functools
import re
from pathlib import Path
from typing import NamedTuple

import torch

CSRC = Path(__file__).resolve().parents[2] / "csrc"
HEADERS = Path(torch.__file__).parent / "include" / "ATen" / "ops"


class Named(NamedTuple):
    """A kernel that is launched by a name, and the operator that it computes."""

    operator: str
    inplace: bool = False  # `self` of the operator is its output
    out: str = ""  # the place of the output, unless it is the operator's result
    more: str = ""  # dtypes that the kernel serves, and the CPU's operator does not
    numbers: str | None = None  # if the host has checked them


def same(*names: str) -> dict[str, Named]:
    return {name: Named(name) for name in names}


NAMED = same(
    *("_adaptive_avg_pool2d", "_adaptive_avg_pool2d_backward"),
    *("_adaptive_avg_pool3d", "_adaptive_avg_pool3d_backward"),
    *("_cdist_backward", "_cdist_forward", "_pdist_backward", "_pdist_forward"),
    *("_ctc_loss", "_ctc_loss_backward"),
    *("_embedding_bag", "_embedding_bag_dense_backward"),
    "_embedding_bag_per_sample_weights_backward",
    "_prelu_kernel_backward",
    *("_weight_norm_interface", "_weight_norm_interface_backward"),
    *("addr", "binary_cross_entropy", "bincount", "col2im", "im2col", "dot"),
    *("embedding_dense_backward", "flip", "fractional_max_pool3d_backward"),
    *("glu_backward", "huber_loss", "index_select", "kthvalue", "linspace"),
    *("grid_sampler_2d", "grid_sampler_2d_backward"),
    *("grid_sampler_3d", "grid_sampler_3d_backward"),
    *("log_sigmoid_forward", "logit", "logspace", "max", "min", "mode", "mse_loss"),
    *("max_pool3d_with_indices", "max_pool3d_with_indices_backward"),
    *("max_unpool2d", "max_unpool3d", "median", "nanmedian", "nonzero"),
    *("native_group_norm", "native_layer_norm"),
    *("nll_loss2d_backward", "nll_loss2d_forward"),
    *("reflection_pad2d", "reflection_pad2d_backward"),
    *("reflection_pad3d", "reflection_pad3d_backward"),
    *("replication_pad2d", "replication_pad2d_backward"),
    *("replication_pad3d", "replication_pad3d_backward"),
    *("smooth_l1_loss", "take", "unfold_backward"),
) | {
    "_cummax_helper": Named("cummax"),
    "_cummin_helper": Named("cummin"),
    "_unique2": Named("_unique2", out="l"),
    "arange": Named("arange.start_step"),
    "count_nonzero": Named("count_nonzero.dim_IntList", more="HIL45678"),
    "embedding_renorm_": Named("embedding_renorm", inplace=True),
    "eye": Named("eye.m"),
    "histc": Named("histc", more="Bbhil", numbers=".."),
    # The host has checked numbers, and the dtypes of indices.
    "index_put_": Named("index_put", inplace=True),
    "masked_fill_": Named("masked_fill.Scalar", inplace=True, numbers=""),
    "index_fill_": Named("index_fill.int_Scalar", inplace=True),
    "kaiser_window": Named("kaiser_window.beta"),
    "masked_scatter_": Named("masked_scatter", inplace=True),
    "multi_margin_loss": Named("multi_margin_loss", more="ey", numbers=".^"),
    "multi_margin_loss_backward": Named(
        "multi_margin_loss_backward", more="ey", numbers=".^"
    ),
    "multilabel_margin_loss_backward": Named(
        "multilabel_margin_loss_backward", more="ey"
    ),
    "multilabel_margin_loss_forward": Named(
        "multilabel_margin_loss_forward", more="ey"
    ),
    "nansum": Named("nansum"),
    "put_": Named("put", inplace=True),
    "range": Named("range.step"),
    "repeat_interleave": Named("repeat_interleave.Tensor"),
    "searchsorted": Named("searchsorted.Tensor", out="."),
    "std": Named("std.correction"),
    "std_mean": Named("std_mean.correction"),
    "unique_consecutive": Named("unique_consecutive", out="l"),
    "unique_dim": Named("unique_dim", out="l"),
    "unique_dim_consecutive": Named("unique_dim_consecutive", out="l"),
    "var": Named("var.correction"),
    "var_mean": Named("var_mean.correction"),
}


# The backend's own kernels, and the dtypes in which only they compute.
MORE = {"InFloat<": "ey", "kUpsample": "ey", "abs_out": "?"}


class Kernel(NamedTuple):
    entry: str  # "mul.Tensor"
    named: Named
    one_dtype: bool  # TensorIterator converts all operands
    structured: bool


def kernels() -> list[Kernel]:
    """Find in the sources what goes through the table."""
    structs = {
        name.removeprefix("aten::").replace(".", "_"): name.removeprefix("aten::")
        for name in torch._C._dispatch_get_all_op_names()
        if name.startswith("aten::")
    }
    found = {}
    text = "\n".join(
        path.read_text() for path in sorted((CSRC / "aten").rglob("*.cpp"))
    )
    pattern = r"\b(structured|product|pointwise|structured_op|iterator_kernel)<\s*"
    pattern += r"(?:op|at::_ops)::(\w+)([^;]*?)>[(;]"
    for kind, struct, rest in re.findall(pattern, text):
        name = structs[struct]
        one = kind in ("pointwise", "iterator_kernel") or is_iterator(struct)
        more = next((MORE[own] for own in MORE if own in rest), "")
        found[name] = Kernel(
            name, Named(name, more=more), one and struct != "index_Tensor", not one
        )
    for entry, named in NAMED.items():
        found[entry] = Kernel(entry, named, one_dtype=entry == "addr", structured=False)
    return sorted(found.values())


def is_iterator(struct: str) -> bool:
    """Whether the meta function of a structured operator is a TensorIterator."""
    text = f"structured_{struct} : public TensorIteratorBase"
    return any(text in header for header in meta_headers())


@functools.cache
def meta_headers() -> list[str]:
    return [header.read_text() for header in HEADERS.glob("*_meta.h")]
