// Kernels for tensors that are not dense; see docs/operators/layouts.md.
#include "csrc/aten/ops/Layouts.h"

#include <ATen/EmptyTensor.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_sparse_mm_reduce_impl.h>
#include <c10/core/TensorOptions.h>

#include "csrc/aten/common/SparseMembers.h"
#include "csrc/aten/common/TensorArguments.h"
#include "csrc/aten/ops/Fallback.h"
#include "csrc/aten/ops/NativeFunctions.h"
#include "csrc/runtime/device/OpenRegFunctions.h"

namespace openreg {

void nested_from_host_sizes(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const size_t count = op.schema().arguments().size();
  for (const c10::IValue& value : torch::jit::last(*stack, count).slice(1)) {
    TORCH_CHECK(!value.isTensor() || value.toTensor().is_cpu(),
                "openreg: ", op.operator_name().name,
                ": the sizes of a nested tensor must be on ", "the CPU, but are on ",
                value.toTensor().device());
  }
  redispatch_to_cpu_key<c10::DispatchKey::CPU>(op, stack);
}

// LITERALINCLUDE START: ZERO_TENSOR
at::Tensor zero_tensor(at::IntArrayRef size, std::optional<at::ScalarType> dtype,
                       std::optional<at::Layout>, std::optional<at::Device> device,
                       std::optional<bool>) {
  const DeviceIndex index =
      device.has_value() && device->has_index() ? device->index() : current_device();
  const c10::Device here(at::kPrivateUse1, index);
  const auto type = c10::scalarTypeToTypeMeta(c10::dtype_or_default(dtype));
  const size_t bytes =
      at::detail::computeStorageNbytesContiguous(size, type.itemsize());
  c10::Storage storage = c10::make_storage_impl(
      c10::StorageImpl::use_byte_size_t(), bytes, c10::DataPtr(nullptr, here),
      /*allocator=*/nullptr, /*resizable=*/false, here);
  at::Tensor result = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage),
      c10::DispatchKeySet(
          {c10::DispatchKey::PrivateUse1, c10::DispatchKey::ZeroTensor}),
      type);
  result.unsafeGetTensorImpl()->set_sizes_contiguous(size);
  return result;
}
// LITERALINCLUDE END: ZERO_TENSOR

// LITERALINCLUDE START: LAYOUT_FALLBACK
void layout_fallback(c10::DispatchKey cpu_key, const c10::OperatorHandle& op,
                     torch::jit::Stack* stack) {
  check_fallback(op, *stack);
  count_fallback(c10::toString(op.operator_name()));
  at::native::cpu_fallback(op, stack, /*error_on_views=*/true, cpu_key);
}
// LITERALINCLUDE END: LAYOUT_FALLBACK

// LITERALINCLUDE START: SPARSE_MM_REDUCE
std::tuple<at::Tensor, at::Tensor> sparse_mm_reduce(const at::Tensor& self,
                                                    const at::Tensor& other,
                                                    std::string_view reduce) {
  check_same_device("_sparse_mm_reduce_impl", self, other);
  count_fallback("aten::_sparse_mm_reduce_impl");
  const auto on_cpu = [](const at::Tensor& tensor) {
    return tensor.cpu().detach().requires_grad_(tensor.requires_grad());
  };
  const auto [result, places] =
      at::_sparse_mm_reduce_impl(on_cpu(self), on_cpu(other), reduce);
  return {result.to(other.device()), places.to(other.device())};
}
// LITERALINCLUDE END: SPARSE_MM_REDUCE

at::Tensor copy_from_quantized(const at::Tensor& self, const at::Tensor& dst,
                               bool non_blocking) {
  if (self.is_quantized()) {  // torch has given `dst` its scale and zero point
    return copy_from(self, dst, non_blocking);
  }
  return copy_from(dst.cpu().copy_(self.cpu()), dst, non_blocking);
}

at::Tensor copy_from_and_resize_sparse(const at::Tensor& self, const at::Tensor& dst) {
  Members members;
  for (const at::Tensor& member : members_of(self)) {
    members.push_back(member.to(dst.device()));
  }
  set_members(dst, self, members);  // an operator may change what there is of them
  return dst;
}

at::Tensor copy_from_and_resize_same(const at::Tensor& self, const at::Tensor& dst) {
  return dst.copy_(self);
}

}  // namespace openreg
