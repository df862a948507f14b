// Indices of compressed tensors, which are dense; see docs/operators/sparse.md.
#include "csrc/aten/NativeFunctions.h"

#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_convert_indices_from_coo_to_csr_ops.h>
#include <ATen/ops/_convert_indices_from_csr_to_coo_ops.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include "csrc/aten/kernels/SparseIndices.h"
#include "csrc/aten/launch/Launch.h"
#include "csrc/aten/launch/SparseKernelTensorArg.h"
#include "csrc/aten/ops/Fallback.h"

namespace openreg {
namespace {

namespace op = at::_ops;

template <class Op>
using FallBack = at::native::call_fallback_fn<&cpu_fallback, Op>;

at::Tensor on_meta(const at::Tensor& tensor) {
  return at::empty_like(tensor, tensor.options().device(at::kMeta));
}

// What the kernel is to write, of the sizes and the dtype that torch's meta function
// has found.
at::Tensor empty_on(c10::Device device, const at::Tensor& meta) {
  return at::empty(meta.sizes(), meta.options().device(device));
}

bool is_index_tensor(const at::Tensor& tensor) {
  return c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/false);
}

}  // namespace

at::Tensor coo_to_csr_indices(const at::Tensor& self, int64_t size, bool out_int32) {
  using Convert = op::_convert_indices_from_coo_to_csr;
  if (!is_index_tensor(self)) {
    return FallBack<Convert>::call(self, size, out_int32);  // says what is wrong
  }
  at::Tensor out =
      empty_on(self.device(), Convert::call(on_meta(self), size, out_int32));
  launch("_convert_indices_from_coo_to_csr", self.device(),
         [to = KernelTensorArg(out), rows = KernelTensorArg::input(self), size,
          out_int32] {
           at::Tensor result = to.alias();
           kernels::coo_to_csr_indices(rows.alias(), size, out_int32, result);
         });
  return out;
}

at::Tensor csr_to_coo_indices(const at::Tensor& compressed, const at::Tensor& plain,
                              bool out_int32, bool transpose) {
  using Convert = op::_convert_indices_from_csr_to_coo;
  if (!is_index_tensor(compressed) || compressed.dtype() != plain.dtype() ||
      compressed.device() != plain.device()) {
    return FallBack<Convert>::call(compressed, plain, out_int32, transpose);
  }
  at::Tensor out = empty_on(
      compressed.device(),
      Convert::call(on_meta(compressed), on_meta(plain), out_int32, transpose));
  if (out.numel() > 0) {
    launch("_convert_indices_from_csr_to_coo", compressed.device(),
           [to = KernelTensorArg(out), c = KernelTensorArg::input(compressed),
            p = KernelTensorArg::input(plain), out_int32, transpose] {
             at::Tensor result = to.alias();
             kernels::csr_to_coo_indices(c.alias(), p.alias(), out_int32, transpose,
                                         result);
           });
  }
  return out;
}

void validate_compressed_indices(bool is_crow, const at::Tensor& compressed,
                                 const at::Tensor& plain, int64_t compressed_dim,
                                 int64_t dim, int64_t nnz) {
  launch_check("_validate_compressed_sparse_indices", compressed.device(),
               [is_crow, c = KernelTensorArg::input(compressed),
                p = KernelTensorArg::input(plain), compressed_dim, dim, nnz] {
                 kernels::validate_compressed_indices(is_crow, c.alias(), p.alias(),
                                                      compressed_dim, dim, nnz);
               });
}

}  // namespace openreg
