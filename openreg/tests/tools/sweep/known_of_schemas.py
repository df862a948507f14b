# The known exceptions of the way that calls overloads by their schema; see
# docs/ship/sweep.md.
from .known_case import Known
from .known_of_ways import ERROR, WRONG, some

DEVICE = "wrong device"
CRASH = "crash"


def schema(verdict: str, match: str, operators: str, cause: str) -> Known:
    """Make an entry for overloads; only a run of all samples is sure to meet it."""
    names = " ".join(f"aten::{name}" for name in operators.split())
    return some("schema", verdict, match, names, cause, rare=True, unsteady=True)


KNOWN_OF_SCHEMAS = [
    # -- crashes --
    schema(
        CRASH,
        "exit status",
        "_logcumsumexp.out adaptive_max_pool3d_backward "
        "smooth_l1_loss_backward.grad_input",
        "Even the CPU's kernel crashes: it writes outside of a tensor, or divides an "
        "integer by zero.",
    ),
    # -- errors that stop the device --
    schema(
        ERROR,
        "DeviceFault: .*(out of bounds|num_embeddings|index >= 0|EmbeddingBagMode|"
        "source < number of ones|required size)",
        "_ctc_loss* _embedding_bag* fractional_max_pool2d_backward "
        "masked_select_backward one_hot repeat_interleave.*Tensor",
        "Only the device has the numbers, which are wrong for the operator.",
    ),
    schema(
        ERROR,
        "DeviceFault: .*(tensor does not have a device|itensor_view_from_dense|"
        "either both be None|does not have an identity|non-contiguous tensor|neg_cpu)",
        "_neg_view_copy* native_layer_norm_backward* gelu_backward.grad_input "
        "instance_norm norm_except_dim _embedding_bag_per_sample_weights_backward",
        "A trial of small tensors takes another path, or only the kernel checks an "
        "optional argument.",
    ),
    # -- errors of the device alone --
    schema(
        ERROR,
        "NotImplementedError: .*not implemented for '?(Bool|ComplexFloat|Long)'",
        "*",
        "The dtype is checked before the sizes; the CPU returns early for a tensor of "
        "one or no element, or composes the operator for this dtype.",
    ),
    schema(
        ERROR,
        "RuntimeError: (openreg: .*(expect|must be one|needs running_mean)|"
        ".* has a gradient or a state of size|"
        "Expected from <= to|(max|min)\\(\\): Expected|cannot reshape tensor of 0|"
        "Integers to negative|dropout prob|Expected out tensor to have dtype)",
        "*",
        "The CPU's kernel does not check these sizes, dtypes or bounds, or not if "
        "there are no elements.",
    ),
    schema(
        ERROR,
        "cannot be converted to a number|but its storage has",
        "_local_scalar_dense _reshape_alias _reshape_alias_copy*",
        "Torch's callers have checked this; the CPU's kernel does not.",
    ),
    schema(
        ERROR,
        "zero-dimensional tensor",
        "_stack.out",
        "Torch's composite kernel joins by dimensions of the result.",
    ),
    schema(
        ERROR,
        "device cpu|on CPU|CPU Backend",
        "_pack_padded_sequence.out randint_like.Tensor* _batch_norm_no_update",
        "Torch wants the argument on the CPU, or calls a kernel of the CPU.",
    ),
    # -- results where the CPU raises an error --
    schema(
        WRONG,
        "no error, but on the CPU",
        "batch_norm_stats.out binary_cross_entropy.out isin.Tensor_Tensor randperm "
        "binary_cross_entropy_backward* embedding_backward dropout "
        "_slow_conv2d_backward.output_mask _fused_moving_avg_obs_fq_helper* "
        "fake_quantize_per_channel_affine native_batch_norm.out nanmean nanmean.out "
        "nansum nansum.out _foreach_powsum.Scalar _foreach_powsum.Scalar_out histc "
        "histc.out linalg__powsum max_pool1d trace smooth_l1_loss.out "
        "_foreach_abs _foreach_abs.out _foreach_abs_ abs abs.out abs_ absolute "
        "absolute.out absolute_ randperm.* isin.Scalar_Tensor native_group_norm "
        "max_unpool3d.out _weight_int8pack_mm fake_quantize_per_channel_affine* "
        "_fake_quantize_learnable_per_channel_affine*",
        "The kernel of the device takes this dtype or layout.",
    ),
    schema(
        WRONG,
        "no error, but on the CPU: RuntimeError: ZeroDivisionError",
        "div.Tensor_mode div.out_mode div_.Tensor_mode divide.Tensor_mode "
        "divide.out_mode divide_.Tensor_mode floor_divide floor_divide.out "
        "floor_divide_.Tensor fmod.Tensor fmod.Tensor_out fmod_.Tensor "
        "div*.Scalar_mode floor_divide*.Scalar fmod*.Scalar fmod.Scalar_out "
        "remainder*.Scalar remainder.Scalar_out "
        "remainder.Scalar_Tensor remainder.Scalar_Tensor_out remainder.Tensor "
        "remainder.Tensor_out remainder_.Tensor",
        "Integers are divided by zero without an error, as on CUDA.",
    ),
    schema(
        WRONG,
        "no error, but on the CPU: RuntimeError: setStorage",
        "set.source_Storage_storage_offset set.source_Storage_storage_offset_out "
        "set_.source_Storage_storage_offset set_.source_Tensor_storage_offset",
        "The storage grows, as on CUDA.",
    ),
    # -- values --
    schema(
        WRONG,
        "strides",
        "_dirichlet_grad _standard_gamma_grad binary_cross_entropy_backward "
        "huber_loss_backward mse_loss_backward smooth_l1_loss_backward "
        "rrelu* _saturate_weight_to_fp16 dequantize.self linalg_lstsq*",
        "The result has the layout of the inputs; the CPU makes a contiguous one.",
    ),
    schema(
        WRONG,
        "strides",
        "_slow_conv2d_forward.output adaptive_avg_pool2d.out max_unpool2d.out "
        "_slow_conv2d_backward.grad_input max_pool3d_with_indices* "
        "log_sigmoid_forward.output thnn_conv2d.out "
        "reflection_pad2d_backward.grad_input reflection_pad3d_backward.grad_input "
        "replication_pad2d_backward.grad_input replication_pad3d_backward.grad_input",
        "The CPU gives the memory of out= another layout.",
    ),
    schema(
        WRONG,
        "not (close|equal)",
        "_batch_norm_with_update.out _compute_linear_combination.out "
        "_native_batch_norm_legit*out grid_sampler_2d_backward "
        "_slow_conv2d_backward.output_mask adaptive_avg_pool3d.out "
        "adaptive_avg_pool3d_backward.grad_input "
        "adaptive_max_pool3d_backward* _compute_linear_combination "
        "slow_conv_transpose*.out _sobol_engine_ff_ linalg_lstsq.out",
        "The CPU's kernel ignores the strides of a tensor that it writes.",
    ),
    schema(
        WRONG,
        "not (close|equal)",
        "_ctc_loss* _pdist_backward* "
        "_scaled_dot_product_flash_attention_for_cpu_backward "
        "native_layer_norm_backward _rowwise_prune empty_permuted.out "
        "binary_cross_entropy.out _batch_norm_impl_index embedding_bag resize_as_ "
        "_padded_dense_to_jagged_forward _segment_reduce_backward "
        "multilabel_margin_loss",
        "The sample is wrong for the operator or has no elements, and the result is "
        "memory that nothing has written.",
    ),
    schema(
        WRONG,
        "not (close|equal)",
        "_fused_moving_avg_obs_fq_helper* batch_norm_update_stats*",
        "The CPU's kernel does not observe, or divides by another count, than CUDA's.",
    ),
    schema(
        WRONG,
        "shape|dtype",
        "_stack.out binary_cross_entropy_backward.grad_input native_batch_norm.out "
        "_foreach_powsum* linalg__powsum rrelu_with_noise.out native_dropout* "
        "_add_relu.out binary_cross_entropy.out "
        "_autocast_to_reduced_precision pixel_unshuffle",
        "A size or dtype that only the CPU's kernel has; CUDA's has the device's.",
    ),
    schema(
        WRONG,
        "shares memory",
        "_reshape_from_tensor _saturate_weight_to_fp16 channel_shuffle dequantize.self "
        "native_channel_shuffle",
        "The CPU returns its argument, or a copy of it, where the device does not.",
    ),
    # -- devices --
    schema(
        DEVICE,
        "on cpu instead of",
        "_foreach_addcdiv.Tensor _foreach_addcdiv.Tensor_out _foreach_addcdiv_.Tensor "
        "_foreach_addcmul.Tensor _foreach_addcmul.Tensor_out _foreach_addcmul_.Tensor "
        "_pack_padded_sequence _pack_padded_sequence_backward _pad_packed_sequence "
        "_shape_as_tensor _to_cpu tensor_split.tensor_indices_or_sections gru.data "
        "lstm.data rnn_relu.data rnn_tanh.data",
        "The argument or result is on the CPU with every device.",
    ),
    schema(
        DEVICE,
        "on cpu instead of",
        "_empty_per_channel_affine_quantized",
        "A known gap of torch: its composite kernel makes the tensor on the CPU.",
    ),
]
