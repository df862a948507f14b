// Copies between host and device, and inside a device; see docs/operators/minimal.md.
#include "csrc/aten/native/Copy.h"

#include <ATen/EmptyTensor.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/ops/_local_scalar_dense_native.h>
#include <ATen/ops/empty_like.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/DeviceGuard.h>

#include "csrc/aten/native/CheckScalar.h"
#include "csrc/aten/native/KernelTensor.h"
#include "csrc/aten/native/Launch.h"
#include "csrc/runtime/OpenRegStream.h"

namespace openreg {
namespace {

bool on_openreg(const at::Tensor& tensor) { return tensor.is_privateuseone(); }

// Equal dtype, layout in memory and pending bits: the bytes can be copied as they are.
bool same_bytes(const at::Tensor& a, const at::Tensor& b) {
  const bool same_layout =
      (a.is_contiguous() && b.is_contiguous()) ||
      (a.strides() == b.strides() && a.is_non_overlapping_and_dense());
  return same_layout && a.scalar_type() == b.scalar_type() &&
         a.is_conj() == b.is_conj() && a.is_neg() == b.is_neg();
}

// LITERALINCLUDE START: COPY_BYTES
// Enqueues the copy of equally laid out tensors on the current stream of `device`.
void copy_bytes(const at::Tensor& src, const at::Tensor& dst, c10::Device device) {
  const orMemcpyKind kind = !on_openreg(src)   ? orMemcpyHostToDevice
                            : !on_openreg(dst) ? orMemcpyDeviceToHost
                                               : orMemcpyDeviceToDevice;
  check_storage(src);
  check_storage(dst);
  const DeviceScope scope(device.index());
  const orStream_t stream = handle(current_stream(device.index()));
  OPENREG_CHECK(orMemcpyAsync(dst.mutable_data_ptr(), src.const_data_ptr(),
                              src.nbytes(), kind, stream));
}
// LITERALINCLUDE END: COPY_BYTES

void synchronize_stream(c10::Device device) {
  const DeviceScope scope(device.index());
  OPENREG_CHECK(orStreamSynchronize(handle(current_stream(device.index()))));
}

// Lets later work of `waiter`'s current stream start after the present work of
// `first`'s.
void order_streams(c10::Device first, c10::Device waiter) {
  const c10::impl::DeviceGuardImplInterface* guard =
      c10::impl::getDeviceGuardImpl(at::kPrivateUse1);
  void* event = nullptr;
  guard->record(&event, current_stream(first.index()), first.index(),
                c10::EventFlag::PYTORCH_DEFAULT);
  guard->block(event, current_stream(waiter.index()));
  guard->destroyEvent(event, first.index());
}

// Any strides, dtypes and pending bits: a kernel converts while it copies.
void copy_on_device(const at::Tensor& src, const at::Tensor& dst) {
  const bool peer = src.device() != dst.device();
  if (peer) {  // the copy runs on the source's stream: dst must be ready for it...
    order_streams(dst.device(), src.device());
  }
  if (same_bytes(src, dst)) {
    copy_bytes(src, dst, src.device());
  } else {
    if (src.scalar_type() != dst.scalar_type()) {
      check_scalar(0, src.scalar_type());  // a kernel cannot convert every dtype
      check_scalar(0, dst.scalar_type());
    }
    launch("copy_", src.device(), [in = KernelTensor(src), out = KernelTensor(dst)] {
      out.on_device().copy_(in.on_device());
    });
  }
  if (peer) {  // ... and work on dst must wait for it
    order_streams(src.device(), dst.device());
  }
}

// A tensor like `tensor` in sizes, but dense, of the dtype and on the device given.
at::Tensor staging(const at::Tensor& tensor, at::ScalarType dtype, at::Device device) {
  return at::empty_like(tensor, tensor.options().dtype(dtype).device(device),
                        at::MemoryFormat::Contiguous);
}

// The dtype is converted on the device, and the host only moves bytes.
void copy_to_device(const at::Tensor& src, const at::Tensor& dst) {
  if (same_bytes(src, dst)) {
    copy_bytes(src, dst, dst.device());
    return;
  }
  const at::Tensor host = src.resolve_conj().resolve_neg().contiguous();
  const at::Tensor device = staging(host, host.scalar_type(), dst.device());
  copy_bytes(host, device, dst.device());
  copy_on_device(device, dst);
}

void copy_to_host(const at::Tensor& src, const at::Tensor& dst) {
  if (same_bytes(src, dst)) {
    copy_bytes(src, dst, src.device());
    return;
  }
  const at::Tensor device = staging(src, dst.scalar_type(), src.device());
  copy_on_device(src, device);
  if (same_bytes(device, dst)) {
    copy_bytes(device, dst, src.device());
    return;
  }
  const at::Tensor host = staging(dst, dst.scalar_type(), at::kCPU);
  copy_bytes(device, host, src.device());
  synchronize_stream(src.device());
  dst.copy_(host);  // CPU to CPU: puts the values where the strides of dst want them
}

}  // namespace

// LITERALINCLUDE START: COPY_FROM
at::Tensor copy_from(const at::Tensor& self, const at::Tensor& dst, bool non_blocking) {
  const at::Tensor src = self.sizes() == dst.sizes() ? self : self.expand(dst.sizes());
  if (dst.numel() == 0 || dst.is_same(self)) {
    return dst;
  }
  at::assert_no_internal_overlap(dst);
  at::assert_no_partial_overlap(dst, src);
  if (!on_openreg(src)) {
    copy_to_device(src, dst);
  } else if (!on_openreg(dst)) {
    copy_to_host(src, dst);
  } else {
    copy_on_device(src, dst);
    return dst;  // nothing the host could observe: no need to wait
  }
  if (!non_blocking) {
    synchronize_stream(on_openreg(src) ? src.device() : dst.device());
  }
  return dst;
}
// LITERALINCLUDE END: COPY_FROM

at::Tensor copy_from_and_resize(const at::Tensor& self, const at::Tensor& dst) {
  dst.resize_(self.sizes());
  return copy_from(self, dst, /*non_blocking=*/false);
}

at::Scalar local_scalar_dense(const at::Tensor& self) {
  TORCH_CHECK(self.numel() == 1, "openreg: a tensor of ", self.numel(),
              " elements cannot become a number");
  const at::Tensor value = at::detail::empty_cpu({}, self.scalar_type());
  copy_bytes(self, value, self.device());
  synchronize_stream(self.device());
  return at::native::_local_scalar_dense_cpu(value);
}

void record_stream(at::Tensor& self, at::Stream stream) {
  c10::getDeviceAllocator(at::kPrivateUse1)
      ->recordStream(self.storage().data_ptr(), stream);
}

}  // namespace openreg
