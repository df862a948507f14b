// Fills the dispatch stubs of sparse tensors; see docs/operators/layouts.md.
#include <ATen/native/DispatchStub.h>
#include <ATen/ops/empty.h>

#include "csrc/aten/native/Launch.h"
#include "csrc/aten/native/SparseKernelTensor.h"

// LITERALINCLUDE START: SPARSE_STUBS
// libtorch_cpu.so exports these stubs, but their header, native/sparse/SparseStubs.h of
// torch's sources, is not installed. The types are part of the exported names.
namespace at::native {
using flatten_indices_fn = Tensor (*)(const Tensor& indices, IntArrayRef size);
using sparse_mask_intersection_out_fn = void (*)(Tensor& res, const Tensor& x,
                                                 const Tensor& y,
                                                 const std::optional<Tensor>& x_hash);
using sparse_mask_projection_out_fn = void (*)(Tensor& res, const Tensor& x,
                                               const Tensor& y,
                                               const std::optional<Tensor>& x_hash,
                                               bool accumulate_matches);
DECLARE_DISPATCH(flatten_indices_fn, flatten_indices_stub)
DECLARE_DISPATCH(sparse_mask_intersection_out_fn, sparse_mask_intersection_out_stub)
DECLARE_DISPATCH(sparse_mask_projection_out_fn, sparse_mask_projection_out_stub)
}  // namespace at::native
// LITERALINCLUDE END: SPARSE_STUBS

namespace openreg {
namespace {

namespace native = at::native;

at::Tensor empty_coo(at::ScalarType dtype) {
  return at::empty({0}, at::TensorOptions().dtype(dtype).layout(at::kSparse));
}

// LITERALINCLUDE START: FLATTEN_INDICES
// Each column of `indices` as one number. The result has as many elements as there are
// columns, so the host need not wait.
at::Tensor flatten_kernel(const at::Tensor& indices, at::IntArrayRef size) {
  TORCH_CHECK(indices.dim() > 1 && indices.size(0) == static_cast<int64_t>(size.size()),
              "flatten_indices: indices of shape ", indices.sizes(),
              " do not belong to a tensor of ", size.size(), " sparse dimensions");
  const at::Tensor out =
      at::empty({indices.size(1)}, indices.options().dtype(at::kLong));
  if (out.numel() > 0) {
    launch("flatten_indices", indices.device(),
           [in = KernelTensor::input(indices), to = KernelTensor(out),
            sizes = c10::SmallVector<int64_t, 5>(size)] {
             to.on_device().copy_(
                 native::flatten_indices_stub.DEFAULT(in.on_device(), sizes));
           });
  }
  return out;
}
// LITERALINCLUDE END: FLATTEN_INDICES

std::optional<SparseKernelTensor> capture(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() ? std::make_optional(SparseKernelTensor::input(*tensor))
                            : std::nullopt;
}

std::optional<at::Tensor> if_captured(const std::optional<SparseKernelTensor>& tensor) {
  return tensor.has_value() ? std::make_optional(tensor->on_device()) : std::nullopt;
}

void mask_kernel(at::Tensor& res, const at::Tensor& x, const at::Tensor& y,
                 const std::optional<at::Tensor>& x_hash) {
  launch_and_wait_into("sparse_mask", res,
                       [dtype = res.scalar_type(), x = SparseKernelTensor::input(x),
                        y = SparseKernelTensor::input(y), hash = capture(x_hash)] {
                         at::Tensor masked = empty_coo(dtype);
                         native::sparse_mask_intersection_out_stub.DEFAULT(
                             masked, x.on_device(), y.on_device(), if_captured(hash));
                         return masked;
                       });
}

void project_kernel(at::Tensor& res, const at::Tensor& x, const at::Tensor& y,
                    const std::optional<at::Tensor>& x_hash, bool accumulate_matches) {
  launch_and_wait_into(
      "_sparse_mask_projection", res,
      [dtype = res.scalar_type(), x = SparseKernelTensor::input(x),
       y = SparseKernelTensor::input(y), hash = capture(x_hash), accumulate_matches] {
        at::Tensor projected = empty_coo(dtype);
        native::sparse_mask_projection_out_stub.DEFAULT(
            projected, x.on_device(), y.on_device(), if_captured(hash),
            accumulate_matches);
        return projected;
      });
}

}  // namespace
}  // namespace openreg

// LITERALINCLUDE START: FILL_SPARSE_STUBS
namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(flatten_indices_stub, openreg::flatten_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(sparse_mask_intersection_out_stub, openreg::mask_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(sparse_mask_projection_out_stub, openreg::project_kernel)
}  // namespace at::native
// LITERALINCLUDE END: FILL_SPARSE_STUBS
