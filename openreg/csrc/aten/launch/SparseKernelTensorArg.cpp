// A tensor of any layout as a kernel gets it; see docs/operators/sparse.md.
#include "csrc/aten/launch/SparseKernelTensorArg.h"

#include <ATen/SparseCsrTensorImpl.h>
#include <ATen/SparseCsrTensorUtils.h>
#include <ATen/SparseTensorImpl.h>
#include <ATen/ops/_sparse_compressed_tensor_unsafe.h>
#include <ATen/ops/_sparse_coo_tensor_with_dims_and_tensors.h>
#include <ATen/ops/empty.h>

#include <exception>
#include <memory>
#include <utility>

#include "csrc/aten/launch/Launch.h"
#include "csrc/kernels/cpu/Quiet.h"
#include "csrc/runtime/stream/OpenRegStream.h"
#include "csrc/runtime/stream/StreamCapture.h"

namespace openreg {
namespace {

using at::sparse_csr::is_sparse_compressed;

at::Tensor coo_tensor(int64_t sparse_dim, at::IntArrayRef sizes, const Members& members,
                      bool coalesced) {
  return at::_sparse_coo_tensor_with_dims_and_tensors(
      sparse_dim, static_cast<int64_t>(sizes.size()) - sparse_dim, sizes, members[0],
      members[1], members[1].options().layout(at::kSparse), coalesced);
}

// A compressed tensor of the CPU. Made without the operator for it, which checks the
// indices if the process wants every sparse tensor checked: their owner has done so.
at::Tensor compressed_cpu_tensor(at::Layout layout, at::ScalarType dtype,
                                 at::IntArrayRef sizes, const Members& members) {
  at::Tensor tensor = at::detail::make_tensor<at::SparseCsrTensorImpl>(
      c10::DispatchKeySet(c10::DispatchKey::SparseCsrCPU), c10::Device(c10::kCPU),
      layout, c10::scalarTypeToTypeMeta(dtype));
  at::sparse_csr::get_sparse_csr_impl(tensor)->set_member_tensors(
      members[0], members[1], members[2], sizes);
  return tensor;
}

// What a kernel with a result of unknown size leaves for the host.
struct Found {
  at::Tensor tensor;
  std::exception_ptr error;
};

// LITERALINCLUDE START: LAUNCH_AND_WAIT
std::shared_ptr<Found> find(const char* name, c10::Device device,
                            std::function<at::Tensor()> compute) {
  refuse_in_capture(device.index(), name, "the host waits for what it finds");
  auto found = std::make_shared<Found>();
  launch(name, device, [found, compute = std::move(compute)] {
    try {
      found->tensor = compute();
    } catch (...) {  // no fault of the device: the host is waiting for the reason
      found->error = std::current_exception();
    }
  });
  current_stream(device.index()).synchronize();
  if (found->error != nullptr) {
    std::rethrow_exception(found->error);
  }
  return found;
}
// LITERALINCLUDE END: LAUNCH_AND_WAIT

// LITERALINCLUDE START: LAUNCH_SECOND
// Members on `device`, which a second kernel fills with those that the first one found.
Members take(const char* name, c10::Device device,
             const std::shared_ptr<Found>& found) {
  Members results;
  for (const at::Tensor& member : members_of(found->tensor)) {
    const at::Tensor result =
        at::empty(member.sizes(), member.options().device(device));
    if (result.numel() > 0) {
      launch(name, device, [found, member, out = KernelTensorArg(result)] {
        out.alias().copy_(member);
      });
    }
    results.push_back(result);
  }
  return results;
}
// LITERALINCLUDE END: LAUNCH_SECOND

}  // namespace

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

SparseKernelTensorArg::SparseKernelTensorArg(const at::Tensor& tensor, Access access)
    : identity_(tensor.unsafeGetTensorImpl()),
      sizes_(tensor.sizes().begin(), tensor.sizes().end()),
      access_(access),
      layout_(tensor.layout()),
      dtype_(tensor.scalar_type()) {
  for (const at::Tensor& member : members_of(tensor)) {
    members_.push_back(access == Access::Write ? KernelTensorArg(member)
                                               : KernelTensorArg::input(member));
  }
  if (tensor.is_sparse()) {
    sparse_dim_ = tensor.sparse_dim();
    coalesced_ = tensor.is_coalesced();
  }
}

at::Tensor SparseKernelTensorArg::alias() const {
  Members members;
  for (const KernelTensorArg& member : members_) {
    const at::Tensor alias = member.alias();
    members.push_back(access_ == Access::Copy ? alias.clone() : alias);
  }
  if (layout_ == at::kSparse) {
    return coo_tensor(sparse_dim_, sizes_, members, coalesced_);
  }
  if (is_sparse_compressed(layout_)) {
    const cpu::Quiet quiet;  // the host has warned that this layout is new
    return compressed_cpu_tensor(layout_, dtype_, sizes_, members);
  }
  return members[0];
}

at::Tensor KernelArguments::get(const SparseKernelTensorArg& tensor) {
  for (const auto& [identity, made] : known_) {
    if (identity == tensor.identity_) {
      return made;
    }
  }
  known_.emplace_back(tensor.identity_, tensor.alias());
  return known_.back().second;
}

at::Tensor launch_and_wait(const char* name, c10::Device device,
                           std::function<at::Tensor()> compute) {
  const std::shared_ptr<Found> found = find(name, device, std::move(compute));
  const at::Tensor& tensor = found->tensor;
  const Members members = take(name, device, found);
  if (tensor.is_sparse()) {
    return coo_tensor(tensor.sparse_dim(), tensor.sizes(), members,
                      tensor.is_coalesced());
  }
  if (is_sparse_compressed(tensor)) {
    return at::_sparse_compressed_tensor_unsafe(members[0], members[1], members[2],
                                                tensor.sizes(), tensor.scalar_type(),
                                                tensor.layout(), device, std::nullopt);
  }
  return members[0];
}

void launch_and_wait_into(const char* name, const at::Tensor& out,
                          std::function<at::Tensor()> compute) {
  const std::shared_ptr<Found> found = find(name, out.device(), std::move(compute));
  set_members(out, found->tensor, take(name, out.device(), found));
}

void launch_check(const char* name, c10::Device device, std::function<void()> check) {
  find(name, device, [check = std::move(check)] {
    check();
    return at::Tensor();
  });
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
