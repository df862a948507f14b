// Registers sparse, quantized and nested tensors; see docs/operators/layouts.md.
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <set>
#include <string>

#include "csrc/aten/ops/Layouts.h"
#include "csrc/aten/ops/NativeFunctions.h"

namespace openreg {
namespace {

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
// Registers every operator that torch has for CPU tensors of one layout and that has no
// kernel yet: with torch's CPU code, or with the fallback. The files of kernels come
// first in the library, so their kernels are registered earlier.
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
  register_layout_ops<DispatchKey::SparseCPU>(
      m,
      all_but({"_coalesce", "_sparse_log_softmax", "_sparse_log_softmax_backward_data",
               "_sparse_softmax", "_sparse_softmax_backward_data",
               "_sparse_sparse_matmul", "_sparse_sum_backward", "add.out", "addmm",
               "addmm.out", "addmm_", "bmm", "bmm.out", "hspmm", "hspmm.out",
               "index_select", "mul.out", "sspaddmm.out"}));
}
// LITERALINCLUDE END: SPARSE

TORCH_LIBRARY_IMPL(aten, SparseCsrPrivateUse1, m) {
  m.impl("_copy_from_and_resize", copy_from_and_resize_sparse);
  m.impl("_sparse_mm_reduce_impl", sparse_mm_reduce);
  register_layout_ops<DispatchKey::SparseCsrCPU>(
      m, all_but({"_sparse_csr_prod.dim_dtype", "_sparse_csr_sum.dim_dtype",
                  "_sparse_mm_reduce_impl_backward", "add.out", "addmm.out",
                  "addmv.out", "sparse_sampled_addmm", "sparse_sampled_addmm.out",
                  "triangular_solve.X"}));
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
