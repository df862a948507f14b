// A tensor as device code gets it: address and shape; see
// docs/operators/borrowed-kernels.md.
#include "csrc/kernels/cpu/TensorArg.h"

#include <ATen/SparseCsrTensorImpl.h>
#include <ATen/SparseCsrTensorUtils.h>
#include <ATen/ops/_sparse_coo_tensor_with_dims_and_tensors.h>
#include <openreg.h>

#include <cstring>

#include "csrc/aten/common/SparseMembers.h"
#include "csrc/aten/common/TensorMemory.h"
#include "csrc/runtime/errors/IgnoreWarnings.h"

namespace openreg::cpu {

// A tensor of another layout is made of dense ones.
struct TensorArg::Sparse {
  c10::SmallVector<TensorArg, 3> members;
  c10::SmallVector<int64_t, 5> sizes;
  at::Layout layout = at::kStrided;
  int64_t sparse_dim = 0;  // of a COO tensor
  bool coalesced = false;
};

TensorArg::TensorArg(TensorArg&&) noexcept = default;
TensorArg::~TensorArg() = default;

TensorArg::TensorArg(const at::Tensor& tensor, Access access)
    : identity_(tensor.unsafeGetTensorImpl()), access_(access) {
  if (!tensor.defined()) {
    return;
  }
  dtype_ = tensor.scalar_type();
  if (C10_UNLIKELY(tensor.layout() != at::kStrided)) {
    auto sparse = std::make_unique<Sparse>();
    for (const at::Tensor& member : members_of(tensor)) {
      sparse->members.emplace_back(
          member, access == Access::Write ? Access::Write : Access::Read);
    }
    sparse->sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
    sparse->layout = tensor.layout();
    if (tensor.is_sparse()) {
      sparse->sparse_dim = tensor.sparse_dim();
      sparse->coalesced = tensor.is_coalesced();
    }
    sparse_ = std::move(sparse);
    return;
  }
  conj_ = tensor.is_conj();
  neg_ = tensor.is_neg();
  wrapped_number_ = tensor.unsafeGetTensorImpl()->is_wrapped_number();
  if (tensor.is_cpu()) {
    TORCH_CHECK(tensor.dim() == 0 && access == Access::Read,
                "openreg: expected all tensors on the openreg device, but got a CPU "
                "tensor of shape ",
                tensor.sizes(), "; move it with .to('openreg')");
    on_host_ = true;
    shape_.resize(0);
    bytes_ = tensor.itemsize();
    check_storage(tensor);
    std::memcpy(number_.data(), tensor.const_data_ptr(), bytes_);
    return;
  }
  shape_.set_sizes(tensor.sizes());
  shape_.set_strides(tensor.strides());
  bytes_ = check_storage(tensor);
  if (bytes_ > 0) {
    address_ =
        access == Access::Write ? writable_address(tensor) : tensor.const_data_ptr();
  }
}

at::Tensor TensorArg::alias() const {
  if (C10_UNLIKELY(dtype_ == at::ScalarType::Undefined)) {
    return {};
  }
  if (C10_UNLIKELY(sparse_ != nullptr)) {
    return sparse_alias();
  }
  // LITERALINCLUDE START: ALIAS
  const void* address = on_host_ ? number_.data() : orKernelAddress(address_);  // (1)
  TORCH_CHECK(address != nullptr || bytes_ == 0, "openreg: ", address_,
              " is not device memory");
  auto storage = c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), bytes_,
      c10::DataPtr(const_cast<void*>(address), c10::Device(c10::kCPU)),  // (2)
      /*allocator=*/nullptr, /*resizable=*/false);
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(std::move(storage)), c10::DispatchKeySet(c10::DispatchKey::CPU),
      c10::scalarTypeToTypeMeta(dtype_));
  c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(shape_.sizes_arrayref(), shape_.strides_arrayref());
  if (wrapped_number_) {
    impl->set_wrapped_number(true);
  }
  tensor._set_conj(conj_);  // (3)
  tensor._set_neg(neg_);
  return tensor;
  // LITERALINCLUDE END: ALIAS
}

at::Tensor TensorArg::sparse_alias() const {
  c10::SmallVector<at::Tensor, 3> members;
  for (const TensorArg& member : sparse_->members) {
    const at::Tensor alias = member.alias();
    members.push_back(access_ == Access::Copy ? alias.clone() : alias);
  }
  const at::IntArrayRef sizes = sparse_->sizes;
  if (sparse_->layout == at::kSparse) {
    return at::_sparse_coo_tensor_with_dims_and_tensors(
        sparse_->sparse_dim, static_cast<int64_t>(sizes.size()) - sparse_->sparse_dim,
        sizes, members[0], members[1], members[1].options().layout(at::kSparse),
        sparse_->coalesced);
  }
  // Does not call the operator for it, which would check the indices again if the
  // process enables checks of sparse tensors.
  const IgnoreWarnings ignored;  // the host has warned that this layout is new
  at::Tensor tensor = at::detail::make_tensor<at::SparseCsrTensorImpl>(
      c10::DispatchKeySet(c10::DispatchKey::SparseCsrCPU), c10::Device(c10::kCPU),
      sparse_->layout, c10::scalarTypeToTypeMeta(dtype_));
  at::sparse_csr::get_sparse_csr_impl(tensor)->set_member_tensors(
      members[0], members[1], members[2], sizes);
  return tensor;
}

}  // namespace openreg::cpu
