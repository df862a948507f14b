// Copies to the device, from it and on it; see docs/start/first-operators.md.
#include <ATen/EmptyTensor.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>

#include "csrc/aten/ops/NativeFunctions.h"
#include "csrc/runtime/errors/StarterException.h"

namespace starter {
namespace {

// LITERALINCLUDE START: STARTER_COPY_BYTES
bool on_starter(const Tensor& tensor) { return tensor.is_privateuseone(); }

// Bytes from a tensor's first element to the end of its last one, with the gaps.
size_t extent(const Tensor& t) {
  return at::detail::computeStorageNbytes(t.sizes(), t.strides(), t.itemsize());
}

// Copies between two tensors that lie in memory in the same way.
void copy_bytes(const Tensor& from, const Tensor& to) {
  for (const Tensor& t : {from, to}) {  // fails after untyped_storage().resize_(0)
    const size_t end = t.storage_offset() * t.itemsize() + extent(t);
    TORCH_CHECK(end <= t.storage().nbytes(), "starter: this tensor needs ", end,
                " bytes, but its storage has ", t.storage().nbytes());
  }
  // VENDOR: whether devices copy from each other directly, or through the host
  const bool between =
      on_starter(from) && on_starter(to) && from.device() != to.device();
  if (between) {  // the driver orders the copy with the work of one device only
    const c10::DeviceGuard other(to.device());
    STARTER_CHECK(orDeviceSynchronize());
  }
  const c10::DeviceGuard scope(on_starter(from) ? from.device() : to.device());
  STARTER_CHECK(orMemcpy(to.mutable_data_ptr(), from.const_data_ptr(), extent(from),
                         orMemcpyDefault));
}
// LITERALINCLUDE END: STARTER_COPY_BYTES

// LITERALINCLUDE START: STARTER_IMAGE
// A CPU tensor that lies in memory as `tensor` does, with its values if `read`.
Tensor image(const Tensor& tensor, bool read) {
  const Tensor bytes = at::empty({static_cast<int64_t>(extent(tensor))}, at::kByte);
  Tensor host = at::empty({0}, at::TensorOptions(tensor.scalar_type()));
  host.set_(bytes.storage(), 0, tensor.sizes(), tensor.strides());
  host._set_conj(tensor.is_conj());
  host._set_neg(tensor.is_neg());
  if (read) {
    copy_bytes(tensor, host);
  }
  return host;
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.strides() == b.strides() &&
         a.is_non_overlapping_and_dense() && a.is_conj() == b.is_conj() &&
         a.is_neg() == b.is_neg();
}
// LITERALINCLUDE END: STARTER_IMAGE

}  // namespace

// LITERALINCLUDE START: STARTER_COPY_FROM
// One operator for three directions. Where the bytes differ, the host converts them.
Tensor copy_from(const Tensor& self, const Tensor& dst, bool /*non_blocking*/) {
  // Broadcasting is up to the backend.
  const Tensor src = self.sizes() == dst.sizes() ? self : self.expand(dst.sizes());
  if (dst.numel() == 0 || dst.is_same(self)) {
    return dst;
  }
  at::assert_no_internal_overlap(dst);
  at::assert_no_partial_overlap(dst, src);
  if (same_bytes(src, dst)) {
    copy_bytes(src, dst);
    return dst;
  }
  const Tensor values = on_starter(src) ? image(src, /*read=*/true) : src;
  if (!on_starter(dst)) {
    return dst.copy_(values);
  }
  const bool has_gaps = !dst.is_non_overlapping_and_dense();  // keep what is in them
  const Tensor host = image(dst, /*read=*/has_gaps);
  host.copy_(values);
  copy_bytes(host, dst);
  return dst;
}
// LITERALINCLUDE END: STARTER_COPY_FROM

// LITERALINCLUDE START: STARTER_COPY_OTHERS
Tensor copy_from_and_resize(const Tensor& self, const Tensor& dst) {
  if (dst.sizes() != self.sizes()) {  // a view keeps its strides
    dst.resize_(self.sizes());
  }
  return copy_from(self, dst, /*non_blocking=*/false);
}
// LITERALINCLUDE END: STARTER_COPY_OTHERS

}  // namespace starter
