// Runs a function of the CPU whose result only the device can size; see
// docs/operators/sparse.md.
#include "csrc/kernels/cpu/LaunchAndWait.h"

#include <ATen/SparseCsrTensorUtils.h>
#include <ATen/ops/_sparse_compressed_tensor_unsafe.h>
#include <ATen/ops/_sparse_coo_tensor_with_dims_and_tensors.h>
#include <ATen/ops/empty.h>

#include "csrc/aten/common/SparseMembers.h"
#include "csrc/runtime/stream/OpenRegStream.h"
#include "csrc/runtime/stream/StreamCapture.h"

namespace openreg::cpu {
namespace {

// Device code that copies a tensor of the CPU, and keeps it until then.
struct CopyFrom {
  at::Tensor source;
  void operator()(at::Tensor& out) const { out.copy_(source); }
};

// LITERALINCLUDE START: LAUNCH_SECOND
// Members on `device`, which more kernels fill with those that the first one found.
Members members_on(c10::Device device, const char* name, const at::Tensor& found) {
  Members results;
  for (const at::Tensor& member : members_of(found)) {
    const at::Tensor result =
        at::empty(member.sizes(), member.options().device(device));
    if (result.numel() > 0) {
      launch(name, CopyFrom{member}, result);
    }
    results.push_back(result);
  }
  return results;
}
// LITERALINCLUDE END: LAUNCH_SECOND

}  // namespace

void refuse_to_wait(const char* name, c10::Device device) {
  refuse_in_capture(device.index(), name, "the host waits for what it finds");
}

void wait_for(const Found& found, c10::Device device) {
  current_stream(device.index()).synchronize();
  if (found.error != nullptr) {
    std::rethrow_exception(found.error);
  }
}

at::Tensor bring(const char* name, c10::Device device, const at::Tensor& found) {
  const Members members = members_on(device, name, found);
  if (found.is_sparse()) {
    return at::_sparse_coo_tensor_with_dims_and_tensors(
        found.sparse_dim(), found.dense_dim(), found.sizes(), members[0], members[1],
        members[1].options().layout(at::kSparse), found.is_coalesced());
  }
  if (at::sparse_csr::is_sparse_compressed(found)) {
    return at::_sparse_compressed_tensor_unsafe(members[0], members[1], members[2],
                                                found.sizes(), found.scalar_type(),
                                                found.layout(), device, std::nullopt);
  }
  return members[0];
}

void bring_into(const char* name, const at::Tensor& out, const at::Tensor& found) {
  set_members(out, found, members_on(out.device(), name, found));
}

}  // namespace openreg::cpu
