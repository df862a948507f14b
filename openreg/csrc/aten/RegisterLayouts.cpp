// Registers sparse, quantized and nested tensors; see docs/operators/layouts.md.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/_coalesce_ops.h>
#include <ATen/ops/_sparse_csr_prod_ops.h>
#include <ATen/ops/_sparse_csr_sum_ops.h>
#include <ATen/ops/_sparse_log_softmax_backward_data_ops.h>
#include <ATen/ops/_sparse_log_softmax_ops.h>
#include <ATen/ops/_sparse_softmax_backward_data_ops.h>
#include <ATen/ops/_sparse_softmax_ops.h>
#include <ATen/ops/_sparse_sparse_matmul_ops.h>
#include <ATen/ops/_sparse_sum_backward_ops.h>
#include <ATen/ops/hspmm_ops.h>
#include <ATen/ops/index_select_ops.h>
#include <ATen/ops/sspaddmm_ops.h>
#include <torch/library.h>

#include <set>
#include <string>

#include "csrc/aten/NativeFunctions.h"
#include "csrc/aten/launch/SparseOperator.h"
#include "csrc/aten/ops/Layouts.h"

namespace openreg {
namespace {

namespace op = at::_ops;
using c10::DispatchKey;

struct Operators {
  bool contains(const std::string& name) const {
    return (names.count(name) > 0) != inverted;
  }
  std::set<std::string> names;
  bool inverted = false;
};

Operators only(std::set<std::string> names) { return {std::move(names)}; }
Operators all_but(std::set<std::string> names) { return {std::move(names), true}; }

// LITERALINCLUDE START: SERVE
// Serves every operator that torch has for CPU tensors of one layout, and that has no
// kernel yet: by borrowing, or else on the CPU.
template <DispatchKey cpu_key>
void register_layout_ops(torch::Library& m, const Operators& borrowed,
                         const std::string& library = "aten") {
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  const DispatchKey key = c10::toRuntimePerBackendFunctionalityKey(
      c10::toFunctionalityKey(cpu_key), c10::BackendComponent::PrivateUse1Bit);
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    const auto op = dispatcher.findOp(name);
    if (name.getNamespace() != library || !op->hasKernelForDispatchKey(cpu_key) ||
        op->hasKernelForDispatchKey(key)) {
      continue;
    }
    const std::string inside = c10::toString(name).substr(library.size() + 2);
    m.impl(inside.c_str(),
           borrowed.contains(inside)
               ? torch::CppFunction::makeFromBoxedFunction<
                     &redispatch_to_cpu_key<cpu_key>>()
               : torch::CppFunction::makeFromBoxedFunction<&fall_back<cpu_key>>());
  }
}
// LITERALINCLUDE END: SERVE

}  // namespace

// LITERALINCLUDE START: REGISTER_ZERO
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_efficientzerotensor", zero_tensor);
}
// LITERALINCLUDE END: REGISTER_ZERO

// VENDOR: which sparse, quantized and nested operators your device has
// LITERALINCLUDE START: SPARSE
TORCH_LIBRARY_IMPL(aten, SparsePrivateUse1, m) {
  m.impl("_copy_from_and_resize", copy_from_and_resize_sparse);
  m.impl("add.out", coo_add_out);
  m.impl("addmm", coo_addmm);
  m.impl("addmm.out", coo_addmm_out);
  m.impl("addmm_", coo_addmm_);
  m.impl("mul.out", coo_mul_out);
  sparse_operator<op::_coalesce>(m);
  sparse_operator<op::_sparse_log_softmax>(m);
  sparse_operator<op::_sparse_log_softmax_backward_data>(m);
  sparse_operator<op::_sparse_softmax>(m);
  sparse_operator<op::_sparse_softmax_backward_data>(m);
  sparse_operator<op::_sparse_sparse_matmul>(m);
  sparse_operator<op::_sparse_sum_backward>(m);
  sparse_operator<op::hspmm>(m);
  sparse_operator<op::hspmm_out>(m);
  sparse_operator<op::index_select>(m);
  sparse_operator<op::sspaddmm_out>(m);
  register_layout_ops<DispatchKey::SparseCPU>(m, all_but({"bmm", "bmm.out"}));
}
// LITERALINCLUDE END: SPARSE

TORCH_LIBRARY_IMPL(aten, SparseCsrPrivateUse1, m) {
  m.impl("_copy_from_and_resize", copy_from_and_resize_sparse);
  m.impl("_sparse_mm_reduce_impl", sparse_mm_reduce);
  m.impl("add.out", compressed_add_out);
  m.impl("addmm.out", compressed_addmm_out);
  m.impl("sparse_sampled_addmm", csr_sampled_addmm);
  sparse_operator<op::_sparse_csr_prod_dim_dtype>(m);
  sparse_operator<op::_sparse_csr_sum_dim_dtype>(m);
  register_layout_ops<DispatchKey::SparseCsrCPU>(
      m, all_but({"_sparse_mm_reduce_impl_backward", "addmv.out",
                  "sparse_sampled_addmm.out", "triangular_solve.X"}));
}

// Indices of compressed tensors are dense tensors.
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_validate_compressed_sparse_indices", validate_compressed_indices);
  m.impl("_convert_indices_from_coo_to_csr", coo_to_csr_indices);
  m.impl("_convert_indices_from_csr_to_coo", csr_to_coo_indices);
}

// LITERALINCLUDE START: QUANTIZED
TORCH_LIBRARY_IMPL(aten, QuantizedPrivateUse1, m) {
  register_layout_ops<DispatchKey::QuantizedCPU>(
      m, only({"_empty_affine_quantized",
               "_empty_per_channel_affine_quantized",
               "_reshape_alias",
               "as_strided",
               "clone",
               "empty.memory_format",
               "empty_like",
               "empty_quantized",
               "q_per_channel_axis",
               "q_per_channel_scales",
               "q_per_channel_zero_points",
               "q_scale",
               "q_zero_point",
               "qscheme",
               "set_.source_Storage_storage_offset",
               "squeeze",
               "squeeze.dim",
               "squeeze.dims",
               "unfold",
               "unsqueeze",
               "view"}));
  // LITERALINCLUDE END: QUANTIZED
  // LITERALINCLUDE START: QUANTIZED_COPIES
  m.impl("_copy_from", copy_from_quantized);
  m.impl("_copy_from_and_resize", copy_from_and_resize_same);
}
TORCH_LIBRARY_IMPL(quantized, QuantizedPrivateUse1, m) {
  register_layout_ops<DispatchKey::QuantizedCPU>(m, only({}), "quantized");
}
// LITERALINCLUDE END: QUANTIZED_COPIES

// LITERALINCLUDE START: NESTED
TORCH_LIBRARY_IMPL(aten, NestedTensorPrivateUse1, m) {
  register_layout_ops<DispatchKey::NestedTensorCPU>(
      m,
      all_but({"_native_multi_head_attention", "_nested_sum_backward",
               "_transformer_encoder_layer_fwd", "_nested_tensor_softmax_with_shape",
               "_transform_bias_rescale_qkv", "sum.dim_IntList", "to_padded_tensor"}));
  m.impl("_copy_from_and_resize", copy_from_and_resize_same);
}
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  for (const char* name : {"_nested_view_from_buffer", "_nested_from_padded"}) {
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&nested_from_host_sizes>());
  }
}
// LITERALINCLUDE END: NESTED

}  // namespace openreg
