// The dense tensors inside a sparse tensor; see docs/operators/sparse.md.
#include "csrc/aten/common/SparseMembers.h"

#include <ATen/SparseCsrTensorImpl.h>
#include <ATen/SparseCsrTensorUtils.h>
#include <ATen/SparseTensorImpl.h>

namespace openreg {

using at::sparse_csr::is_sparse_compressed;

Members members_of(const at::Tensor& tensor) {
  if (tensor.is_sparse()) {
    return {tensor._indices(), tensor._values()};
  }
  if (is_sparse_compressed(tensor)) {
    const auto [compressed, plain] = at::sparse_csr::getCompressedPlainIndices(tensor);
    return {compressed, plain, tensor.values()};
  }
  return {tensor};
}

void set_members(const at::Tensor& out, const at::Tensor& like,
                 const Members& members) {
  if (is_sparse_compressed(out)) {
    at::sparse_csr::get_sparse_csr_impl(out)->set_member_tensors(
        members[0], members[1], members[2], like.sizes());
    return;
  }
  auto* impl = static_cast<at::SparseTensorImpl*>(out.unsafeGetTensorImpl());
  impl->raw_resize_(like.sparse_dim(), like.dense_dim(), like.sizes());
  impl->set_indices_and_values_unsafe(members[0], members[1]);
  impl->set_coalesced(like.is_coalesced());
}

}  // namespace openreg
