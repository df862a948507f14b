# Kernels return what fake tensors promise; see docs/modules/compile-dynamo.md.
import warnings

import pytest
from fake_layouts import channels_last, compare

# Where the kernel of ATen's CPU library, which the device runs, differs in the same
# way from torch's function for fake tensors, or that function describes CUDA's kernel.
DEVIATIONS = {
    "aten._cdist_backward.default": "without elements, the CPU broadcasts first",
    "aten._embedding_bag.default": "the promise for other devices is CUDA's kernel",
    "aten._native_batch_norm_legit.default": "evaluation: the CPU saves no statistics",
    "aten.native_batch_norm.default": "evaluation: the CPU saves no statistics",
    "aten.max_unpool2d.default": "the CPU keeps channels last",
}
# The same, where the arguments are channels last.
KEEPS_CHANNELS_LAST = (
    "aten.channel_shuffle.default",
    "aten.max_unpool2d.default",
    "aten.max_unpool3d.default",
    "aten.replication_pad2d_backward.default",
)
ALL_OF = frozenset(
    {
        "cdist",
        "nn.functional.max_unpool2d",
        "nn.functional.scaled_dot_product_attention",
    }
)  # a later sample shows it


@pytest.fixture(scope="module")
def compared():
    return compare_quietly(all_of=ALL_OF)


@pytest.fixture(scope="module")
def compared_channels_last():
    return compare_quietly(change=channels_last)


def compare_quietly(**options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compare(limit=2, **options)


def test_results_look_as_fake_tensors_promise(compared):
    unexpected = {
        name: text
        for name, text in compared.different.items()
        if name not in DEVIATIONS
    }
    assert unexpected == {}


def test_each_deviation_is_still_there(compared):
    assert sorted(DEVIATIONS.keys() - compared.different.keys()) == []


def test_channels_last_is_kept_where_it_is_promised(compared_channels_last):
    found = compared_channels_last
    unexpected = found.different.keys() - DEVIATIONS.keys()
    assert sorted(unexpected) == sorted({*KEEPS_CHANNELS_LAST} - DEVIATIONS.keys())
    for name in ("convolution", "convolution_backward", "max_pool2d_with_indices"):
        assert found.alike[f"aten.{name}.default"]


def test_the_comparison_met_the_operators(compared):
    assert len(compared.alike) > 300
    assert "aten.addmm.default" in compared.alike
    attention = "_scaled_dot_product_efficient_attention"
    assert compared.alike[f"aten.{attention}.default"]
    assert compared.alike[f"aten.{attention}_backward.default"]
