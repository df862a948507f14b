// Raises, before a launch, the errors that a kernel would raise; see
// docs/operators/structured.md.
#include "csrc/aten/ops/HostCheck.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/native/ReduceOpsUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/record_function.h>

#include <algorithm>

#include "csrc/aten/common/CpuDispatchGuard.h"
#include "csrc/aten/common/TensorArguments.h"
#include "csrc/runtime/errors/IgnoreWarnings.h"

namespace openreg {

void check_arguments(bool is_valid, c10::function_ref<void()> on_host) {
  if (C10_LIKELY(is_valid)) {
    return;
  }
  const IgnoreWarnings ignored;
  const CpuDispatchGuard scope;
  const at::DisableRecordFunctionGuard unrecorded;
  on_host();
}

at::Tensor zeros_for(const at::Tensor& tensor) {
  const auto options = at::TensorOptions().dtype(tensor.scalar_type());
  return at::empty_strided(tensor.sizes(), tensor.strides(), options.device(at::kCPU))
      .zero_();
}

std::optional<at::Tensor> zeros_for(const std::optional<at::Tensor>& tensor) {
  return is_given(tensor) ? std::make_optional(zeros_for(*tensor)) : std::nullopt;
}

void resize_out(const at::Tensor& out, at::IntArrayRef sizes) {
  at::native::resize_output(out, sizes);
}

at::Tensor& write_out(const at::Tensor& result, at::Tensor& out) {
  check_same_device("out=", result, out);
  check_out_dtype(out, result.scalar_type());
  at::assert_no_internal_overlap(out);
  if (at::native::resize_output(out, result.sizes()) &&
      result.is_non_overlapping_and_dense()) {
    out.as_strided_(result.sizes(), result.strides());
  }
  return out.copy_(result);
}

void check_out_dtype(const at::Tensor& out, at::ScalarType dtype) {
  TORCH_CHECK(out.scalar_type() == dtype, "Expected out tensor to have dtype ",
              c10::scalarTypeToTypeMeta(dtype), ", but got ", out.dtype(), " instead");
}

void warn_of_freedom(const char* name, const at::Tensor& self, int64_t results,
                     const std::optional<at::Scalar>& correction) {
  const int64_t reduced = results == 0 ? 0 : self.numel() / results;
  const double freedom =
      static_cast<double>(reduced) - correction.value_or(1).toDouble();
  if (freedom <= 0) {
    TORCH_WARN(name, "(): degrees of freedom is <= 0. Correction should be strictly ",
               "less than the reduction factor (input numel divided by output numel).");
  }
}

bool has_elements(const at::Tensor& tensor, int64_t batch) {
  const auto sizes = tensor.sizes();
  return static_cast<int64_t>(sizes.size()) > batch &&
         std::none_of(sizes.begin() + batch, sizes.end(),
                      [](int64_t size) { return size == 0; });
}

void check_channels(const char* name, const at::Tensor& self, const at::Tensor& scales,
                    const at::Tensor& zero_points, int64_t axis) {
  TORCH_CHECK(axis >= 0 && axis < self.dim() && scales.dim() == 1 &&
                  zero_points.dim() == 1 && scales.numel() == self.size(axis) &&
                  zero_points.numel() == self.size(axis),
              "openreg: ", name, ": expected one scale and one zero point for each ",
              "element of dimension ", axis, " of ", self.sizes(), ", but got ",
              scales.sizes(), " and ", zero_points.sizes());
}

c10::DimVector reduced_sizes(const at::Tensor& self, at::OptionalIntArrayRef dim,
                             bool keepdim) {
  return at::native::shape_from_dim_mask(
      self, at::native::make_dim_mask(dim, self.dim()), keepdim);
}

bool none_below(at::IntArrayRef values, int64_t least) {
  return std::all_of(values.begin(), values.end(),
                     [&](int64_t value) { return value >= least; });
}

at::MemoryFormat format_of(const at::Tensor& tensor, int64_t with_batch) {
  return tensor.dim() == with_batch ? tensor.suggest_memory_format()
                                    : at::MemoryFormat::Contiguous;
}

}  // namespace openreg
