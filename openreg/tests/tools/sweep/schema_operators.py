# What the arguments of an operator must be; see docs/ship/sweep.md.
from typing import Any

import torch

from .schema_shapes import (
    BOOL,
    F32,
    F64,
    I8,
    I32,
    I64,
    REDUCE,
    U8,
    Always,
    Shape,
    below,
    channels,
    diagonal,
    each,
    in_turn,
    integers,
    kernels,
    one,
    rank,
    rows,
    same,
    size,
)


def padded(draw: Any) -> list[int]:
    """No padding, so that gradients have the shape of the input."""
    return [0] * 2 * draw.spatial


def square(draw: Any) -> tuple[int, ...]:
    """The sizes of the sample, and a last dimension that says where to look."""
    return (*draw.sizes[:1], *draw.sizes[2 : draw.rank], draw.spatial)


def ones(draw: Any) -> list[int]:
    return [1] * draw.spatial


LOSS2D = {"rank": in_turn(4), "target": integers(3), "weight": rank(1)}
LOSS = {"rank": in_turn(2), "target": integers(1), "weight": rank(1)}
NO_GRADIENT_SHAPES = {"stride[]": ones, "dilation[]": ones}
CTC = {
    "rank": in_turn(3),
    "targets": Shape(2, I64, low=1),
    "input_lengths": integers(1),
    "target_lengths": integers(1),
    "input_lengths[]": lambda draw: [draw.sizes[0]] * draw.sizes[1],
    "target_lengths[]": lambda draw: [1] * draw.sizes[1],
    "blank": [0],
}
BAG = {
    "rank": in_turn(2),
    "weight": rank(2),
    "indices": integers(1),
    "offsets": Shape(1, I64, high=1),
    "offset2bag": Shape(1, I64, high=1),
    "bag_size": Shape(1, I64, high=2),
    "maximum_indices": Shape(1, I64, high=1),
    "per_sample_weights": rank(1),
    "num_weights": size,
    "padding_idx": [-1],
}
LENGTHS = Shape(shape=lambda draw: (draw.size,), dtype=I64, low=1, high=2, on_host=True)
RNN = {
    "rank": in_turn(3),
    "data": rank(2),
    "batch_sizes": LENGTHS,
    "hx": Shape(shape=lambda draw: (1, 1, draw.size)),
    "input": Shape(shape=lambda draw: (draw.size, 1, draw.size)),
    "batch_first": [False],
    "num_layers": [1],
    "has_biases": [False],
    "bidirectional": [False],
    "train": [False, True],
}
OPTIMIZER = {"state_steps": lambda draw: [one(F32)] * draw.count, "amsgrad": [True]}

# What the arguments of these operators are.
BY_OPERATOR: dict[str, dict[str, Any]] = {
    # -- products --
    "addmv*": {"self": rank(1), "mat": rank(2), "vec": rank(1)},
    "mv": {"self": rank(2), "vec": rank(1)},
    "addr*": {"self": rank(2), "vec1": rank(1), "vec2": rank(1)},
    "addbmm*": {"self": rank(2), "batch1": rank(3), "batch2": rank(3)},
    "_int_mm*": {"self": rank(2, I8), "mat2": rank(2, I8)},
    "einsum": {"rank": in_turn(2), "equation": ["...ij,...jk", "ij,jk->ki", "ij->i"]},
    "_grouped_mm": {"rank": in_turn(3)},
    "_scaled_mm*": {"rank": in_turn(2)},
    # -- convolutions --
    "*convolution*": {"rank": in_turn(4, 3, 5), "dilation[]": ones},
    "convolution_backward*": {"stride[]": ones, "bias_sizes[]": lambda d: [d.sizes[0]]},
    "conv_tbc*": {"rank": in_turn(3)},
    "_convolution_mode": {"padding": ["same", "valid", "x"], "rank": in_turn(4)},
    "conv?d": {"padding": ["same", "valid"]},
    "*slow_conv*_backward*": NO_GRADIENT_SHAPES,
    "slow_conv*": {"weight": Shape(shape=kernels)},
    "thnn_conv2d*": {"weight": Shape(shape=kernels)},
    "_slow_conv2d*": {"weight": Shape(shape=kernels)},
    "conv_depthwise*": {"weight": Shape(shape=kernels)},
    "_nnpack_spatial_convolution*": {"rank": in_turn(4)},
    # -- pooling, resizing and padding --
    "*pool?d*_backward*": NO_GRADIENT_SHAPES,
    "fractional_max_pool*": {
        "kernel_size[]": ones,
        "output_size[]": each(lambda draw: draw.size - draw.choice((0, 1))),
        "random_samples": Shape(shape=lambda draw: (*draw.sizes[:2], draw.spatial)),
    },
    "*upsample*": {"output_size[]": Always(each(size)), "scales": [None]},
    "*upsample*_backward*": {"scale_factors[]": [None]},
    "*_pad?d*": {"padding[]": lambda draw: [1] * 2 * draw.spatial},
    "*_pad?d_backward*": {"padding[]": padded},
    "im2col*": {"rank": in_turn(4), "stride[]": ones, "dilation[]": ones},
    "col2im*": {"rank": in_turn(3), "kernel_size[]": ones, "padding[]": lambda d: [0]},
    "affine_grid_generator*": {
        "theta": Shape(shape=lambda draw: (draw.sizes[0], 2, 3)),
        "size[]": lambda draw: [draw.sizes[0]] * 4,
        "grad": Shape(shape=lambda draw: (*[draw.sizes[0]] * 3, 2)),
    },
    "*grid_sampler*": {
        "rank": lambda draw: 5 if "3d" in draw.name else 4,
        "grid": Shape(shape=square),
        "interpolation_mode": [0, 1],
        "padding_mode": [0, 1, 2],
    },
    "*grid_sampler_2d*": {"interpolation_mode": [0, 1, 2]},
    # -- losses --
    "nll_loss*": LOSS | {"total_weight": rank(0)},
    "nll_loss2d*": LOSS2D | {"total_weight": rank(0)},
    "nll_loss_nd*": LOSS,
    "cross_entropy*": LOSS,
    "multi_margin_loss*": LOSS | {"p": [1, 2]},
    "multilabel_margin_loss*": {"rank": in_turn(2), "target": integers()},
    "*ctc_loss*": CTC,
    "_ctc_loss_backward*": CTC
    | {
        "grad": rank(1),
        "neg_log_likelihood": rank(1),
        "log_alpha": Shape(shape=lambda draw: (*draw.sizes[:2], 3)),
    },
    "nll_loss*_backward*": {"grad_output": rank(0), "reduction": [1, 2]},
    # -- indices --
    "index_select*": {"index": integers(1)},
    "index_fill*": {"index": integers(1), "value": rank(0)},
    "index_add*": {"index": integers(1)},
    "index_copy*": {"index": integers(1)},
    "index_reduce*": {"index": integers(1), "reduce": ["prod", "mean", "amax", "amin"]},
    "scatter*": {"reduce": ["add", "multiply"]},
    "scatter_reduce*": {"reduce": REDUCE},
    "tensor_split": {"tensor_indices_or_sections": Shape(0, I64, low=1, on_host=True)},
    "narrow": {"start": Shape(0, I64, high=1)},
    "select*": {"src": below},
    "select_backward*": {"grad_output": below},
    "diagonal_*": {
        "dim1": [0],
        "dim2": [1],
        "offset": [0],
        "src": diagonal,
        "grad_output": diagonal,
    },
    "*embedding_bag*": BAG,
    "segment_reduce": {"lengths": Always(Shape(1, I64, high=2, low=1)), "axis": [0]},
    "_segment_reduce_backward*": {"lengths": Always(Shape(1, I64, high=2, low=1))},
    "bincount*": {"self": integers(1), "weights": rank(1), "minlength": [0, 5]},
    # -- statistics and normalization --
    "*batch_norm*": {
        **same(
            "weight bias running_mean running_var save_mean save_invstd "
            "save_var save_var_transform",
            Always(Shape(shape=channels)),
        ),
        "reserve": Shape(1, U8),
        "reservedSpace": Shape(1, U8),
        "impl_index": [0],
    },
    "native_layer_norm*": {
        "rank": in_turn(2),
        "weight": Always(rank(1)),
        "bias": rank(1),
        "mean": Shape(shape=(None, 1)),
        "rstd": Shape(shape=(None, 1)),
        "output_mask[]": [[True, True, False], [True, False, True]],
    },
    "native_group_norm*": {
        "rank": in_turn(3),
        "weight": Always(rank(1)),
        "mean": Shape(shape=(None, 1)),
        "rstd": Shape(shape=(None, 1)),
        "N": size,
        "C": size,
        "HxW": size,
        "group": [1],
        "num_groups": [1],
        "output_mask[]": [[True, True, False], [True, False, True]],
    },
    "multinomial*": {"rank": in_turn(2, 1), "num_samples": [1, 2]},
    "*histogramdd*": {
        "self": Shape(shape=(5, 2)),
        "bins": lambda draw: [Shape(shape=(4,))] * 2,
        "bins[]": lambda draw: [2, 3],
        "range[]": lambda draw: [0.0, 1.0, 0.0, 2.0],
        "weight": Shape(shape=(5,)),
    },
    "hash_tensor*": {"out": Shape(dtype=torch.uint64)},
    "frexp*": {"exponent": Shape(dtype=I32)},
    # -- linear algebra --
    "linalg_matrix_norm*": {
        "ord": ["fro", "nuc"],
        "dim[]": lambda draw: [-2, -1],
    },
    "linalg_norm*": {"ord": ["fro", "nuc"], "dim[]": lambda draw: [-2, -1]},
    "linalg_cond*": {"p": ["fro", "nuc"]},
    "linalg_*": {"self": Shape(definite=True), "input": Shape(definite=True)},
    "linalg_householder_product*": {"tau": below},
    "orgqr*": {"input2": below},
    "ormqr*": {"input2": below},
    "cholesky*": {"self": Shape(definite=True)},
    "linalg_ldl_solve*": {"pivots": Shape(shape=rows, dtype=I32, low=1)},
    "linalg_lu_solve*": {"pivots": Shape(shape=rows, dtype=I32, low=1)},
    "lu_solve*": {"LU_pivots": Shape(shape=rows, dtype=I32, low=1)},
    "_fft_c2r*": {"last_dim_size": lambda draw: 2 * draw.size - 2, "dim[]": [[0], [1]]},
    "istft*": {"n_fft": [4], "rank": in_turn(2)},
    # -- recurrent networks and attention --
    **same("lstm* gru* rnn_* quantized_lstm quantized_gru", RNN),
    "lstm*": RNN
    | {
        "hx": lambda draw: [Shape(shape=(1, 1, draw.size))] * 2,
        "params": lambda draw: [Shape(shape=(4 * draw.size, draw.size))] * 2,
    },
    "gru*": RNN
    | {"params": lambda draw: [Shape(shape=(3 * draw.size, draw.size))] * 2},
    "rnn_*": RNN | {"params": lambda draw: [rank(2)] * 2},
    "_thnn_fused_lstm_cell_backward": {},
    "mkldnn_rnn_layer*": RNN
    | {
        "hx_": Shape(shape=lambda draw: (1, 1, draw.size)),
        "cx_": Shape(shape=lambda draw: (1, 1, draw.size)),
        "weight0": Shape(shape=lambda draw: (4 * draw.size, draw.size)),
        "weight1": Shape(shape=lambda draw: (4 * draw.size, draw.size)),
        "weight2": Shape(shape=lambda draw: (4 * draw.size,)),
        "weight3": Shape(shape=lambda draw: (4 * draw.size,)),
        "mode": [2],
        "hidden_size": size,
        "batch_sizes[]": lambda draw: [],
        "has_biases": [True],
        "reverse": [False],
    },
    "_pack_padded_sequence_backward": {
        "batch_sizes": LENGTHS,
        "input_size[]": lambda draw: [draw.size] * 3,
        "grad": rank(2),
    },
    "_pack_padded_sequence": {"input": rank(3), "lengths": LENGTHS},
    "_pad_packed_sequence": {
        "data": rank(2),
        "batch_sizes": LENGTHS,
        "padding_value": [0.0, -1.0],
    },
    "_scaled_dot_product_*": {"rank": in_turn(4)},
    "_native_multi_head_attention*": {
        "rank": in_turn(3),
        "embed_dim": size,
        "num_head": [1],
        "qkv_weight": Shape(shape=lambda draw: (3 * draw.size, draw.size)),
        "qkv_bias": Shape(shape=lambda draw: (3 * draw.size,)),
        "proj_weight": rank(2),
        "proj_bias": rank(1),
    },
    "_transform_bias_rescale_qkv*": {
        "qkv": Shape(shape=lambda draw: (2, 2, 3 * draw.size)),
        "qkv_bias": Shape(shape=lambda draw: (3 * draw.size,)),
        "num_heads": [1],
    },
    # -- optimizers and quantization --
    "_fused_adam*": OPTIMIZER,
    "_fused_sgd*": OPTIMIZER,
    "_fused_adagrad*": OPTIMIZER,
    "_foreach_addc*": {
        "scalars": Shape(shape=lambda draw: (draw.count,), on_host=True)
    },
    "_weight_norm*": {
        "g": Shape(shape=lambda draw: (draw.sizes[0], 1, 1)[: draw.rank]),
        "dim": [0],
        "norms": Shape(shape=lambda draw: (draw.sizes[0], 1, 1)[: draw.rank]),
    },
    "l??space*": {"device": Always([torch.device("cpu")])},
    "_amp_update_scale*": {"growth_tracker": one(I32), "self": one(F32)},
    "*fake_quantize_per_tensor*": {
        "scale": one(F32),
        "zero_point": one(I32, high=1),
        "fake_quant_enabled": one(I64),
    },
    "*fake_quantize*per_channel*": {
        "scale": rank(1, F32),
        "zero_point": rank(1, I32),
        "axis": [0],
    },
    "_fused_moving_avg_obs_fq_helper*": {
        **same("running_min running_max scale", one(F32)),
        "zero_point": one(I32),
        "observer_on": one(I64),
        "fake_quant_on": one(I64),
        "ch_axis": [0],
        "per_row_fake_quant": [False],
    },
    "quantize_per_channel*": {
        "scales": rank(1, F64),
        "zero_points": rank(
            1,
            I64,
        ),
        "axis": [0],
        "dtype": [torch.qint8, torch.quint8, torch.qint32],
    },
    "quantize_per_tensor*": {
        "scale": one(F32),
        "zero_point": one(I64),
        "scales": rank(1, F32),
        "zero_points": rank(1, I64),
        "dtype": [torch.qint8, torch.quint8, torch.qint32],
    },
    "_empty*quantized*": {
        "dtype": Always([torch.qint8, torch.quint8]),
        "scales": rank(1, F64),
        "zero_points": rank(1, I64),
        "axis": [0],
    },
    "_make_per_*": {
        "self": Shape(dtype=I8),
        "scale": rank(1, F64),
        "zero_point": rank(1, I64),
        "axis": [0],
    },
    "*cachemask*": {"out1": Shape(dtype=BOOL)},
    "fbgemm_pack_quantized_matrix": {"input": rank(2, I8)},
    "_weight_int8pack_mm": {"self": rank(2), "mat2": rank(2, I8), "scales": rank(1)},
    # -- the rest --
    "*meshgrid*": {"rank": in_turn(1)},
    "gradient*": {"edge_order": [1, 2]},
    "float_power_": {"self": Shape(dtype=F64)},
    "_reshape_from_tensor": {
        "shape": Shape(shape=(1,), dtype=I64, low=9, high=10),
        "self": rank(2),
    },
    "_rowwise_prune": {"rank": in_turn(2), "mask": Shape(1, BOOL)},
    "_masked_softmax*": {"mask": Shape(dtype=BOOL), "dim": [None, 0]},
}
