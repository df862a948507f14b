// Copies to, from and inside a device; see docs/operators/minimal-copies.md.
#include "csrc/aten/ops/NativeFunctions.h"

#include <ATen/EmptyTensor.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/core/CachingHostAllocator.h>
#include <ATen/ops/_local_scalar_dense_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/Event.h>

#include "csrc/aten/common/TensorMemory.h"
#include "csrc/aten/ops/CopyKernel.h"
#include "csrc/runtime/device/AfterSynchronize.h"
#include "csrc/runtime/device/OpenRegGuard.h"
#include "csrc/runtime/stream/OpenRegStream.h"
#include "csrc/runtime/stream/StreamCapture.h"

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

// The address for writing. This copies copy-on-write memory, which must happen on its
// own device.
void* writable(const at::Tensor& tensor) {
  if (!on_openreg(tensor)) {
    return tensor.mutable_data_ptr();
  }
  const OpenRegGuard scope(tensor.device().index());
  return tensor.mutable_data_ptr();
}

// LITERALINCLUDE START: KEEP_PINNED
// Work on `stream` uses the memory of a CPU tensor: if it is pinned, its allocator must
// not reuse it before that work is done. Other memory needs no record.
void keep_pinned(const at::Tensor& host, const c10::Stream& stream) {
  const c10::DataPtr& data = host.storage().data_ptr();
  if (at::HostAllocator* allocator = at::getHostAllocator(at::kPrivateUse1)) {
    allocator->record_event(data.get(), data.get_context(), stream);
  }
}
// LITERALINCLUDE END: KEEP_PINNED

// VENDOR: whether devices copy from each other directly, or through the host
// LITERALINCLUDE START: COPY_BYTES
// Enqueues the copy of equally laid out tensors on the current stream of `device`.
void copy_bytes(const at::Tensor& src, const at::Tensor& dst, c10::Device device,
                bool non_blocking) {
  const orMemcpyKind kind = !on_openreg(src)   ? orMemcpyHostToDevice
                            : !on_openreg(dst) ? orMemcpyDeviceToHost
                                               : orMemcpyDeviceToDevice;
  void* to = writable(dst);
  const OpenRegGuard scope(device.index());
  const c10::Stream stream = current_stream(device.index());
  OPENREG_CHECK(orMemcpyAsync(to, src.const_data_ptr(), src.nbytes(), kind,  // (1)
                              native_handle(stream)));
  if (kind != orMemcpyDeviceToDevice && non_blocking) {
    keep_pinned(on_openreg(src) ? dst : src, stream);  // (2)
  }
}
// LITERALINCLUDE END: COPY_BYTES

void synchronize_stream(c10::Device device) {
  const OpenRegGuard scope(device.index());
  OPENREG_CHECK(orStreamSynchronize(native_handle(current_stream(device.index()))));
  synchronized();
}

// Copies bytes between host and device, and waits.
void copy_memory(void* to, const void* from, size_t bytes, orMemcpyKind kind,
                 c10::Device device) {
  const OpenRegGuard scope(device.index());
  OPENREG_CHECK(orMemcpyAsync(to, from, bytes, kind,
                              native_handle(current_stream(device.index()))));
  synchronize_stream(device);
}

// Lets later work of `waiter`'s current stream start after the current work of
// `first`'s. Both calls throw when their device has a fault; c10::Event destroys the
// driver's event in any case.
void order_streams(c10::Device first, c10::Device waiter) {
  c10::Event event(at::kPrivateUse1);
  event.record(current_stream(first.index()));
  event.block(current_stream(waiter.index()));
}

// A CPU tensor with a copy of the memory of `tensor`, from its first element to its
// last.
at::Tensor image_on_host(const at::Tensor& tensor) {
  const auto bytes = static_cast<int64_t>(check_storage(tensor));
  const at::Tensor memory = at::empty({bytes}, at::kByte);
  copy_memory(memory.mutable_data_ptr(), tensor.const_data_ptr(), bytes,
              orMemcpyDeviceToHost, tensor.device());
  at::Tensor image =
      at::for_blob(memory.mutable_data_ptr(), tensor.sizes())
          .strides(tensor.strides())
          .deleter([memory](void*) {})
          .options(at::TensorOptions().dtype(tensor.scalar_type()).device(at::kCPU))
          .make_tensor();
  image._set_conj(tensor.is_conj());
  image._set_neg(tensor.is_neg());
  return image;
}

// LITERALINCLUDE START: COPY_CONVERT
// For a device without a kernel that copies: the host does, and the device waits.
void convert_on_host(const at::Tensor& src, const at::Tensor& dst) {
  refuse_in_capture(dst.device().index(), "copy_", "the host converts the elements");
  const at::Tensor from = image_on_host(src), to = image_on_host(dst);
  to.copy_(from);
  copy_memory(writable(dst), to.const_data_ptr(), check_storage(dst),
              orMemcpyHostToDevice, dst.device());
}
// LITERALINCLUDE END: COPY_CONVERT

// The devices must lay out the bytes alike.
void copy_to_peer(const at::Tensor& src, const at::Tensor& dst) {
  writable(dst);
  order_streams(dst.device(), src.device());  // dst must be ready for the copy ...
  copy_bytes(src, dst, src.device(), /*non_blocking=*/true);
  order_streams(src.device(), dst.device());  // ... and work on dst waits for it
}

void copy_on_device(const at::Tensor& src, const at::Tensor& dst) {
  const bool peer = src.device() != dst.device();
  if (same_bytes(src, dst)) {
    check_storage(src);
    check_storage(dst);
    peer ? copy_to_peer(src, dst)
         : copy_bytes(src, dst, src.device(), /*non_blocking=*/true);
  } else if (peer) {  // convert here, copy, and place the values there
    const at::Tensor here = at::empty(dst.sizes(), dst.options().device(src.device()));
    copy_on_device(src, here);
    if (same_bytes(here, dst)) {
      return copy_on_device(here, dst);
    }
    const at::Tensor there = at::empty(dst.sizes(), dst.options());
    copy_on_device(here, there);
    copy_on_device(there, dst);
  } else if (copy_kernel != nullptr) {
    copy_kernel(src, dst);
  } else {
    convert_on_host(src, dst);
  }
}

// A tensor on `device` whose bytes can be copied from or to the dense tensor `host`.
at::Tensor staging(const at::Tensor& host, c10::Device device) {
  at::Tensor result =
      at::empty_strided(host.sizes(), host.strides(), host.options().device(device));
  result._set_conj(host.is_conj());
  result._set_neg(host.is_neg());
  return result;
}

// A dense CPU tensor with the sizes of `tensor`, pinned if it is.
at::Tensor dense_on_host(const at::Tensor& tensor, bool pinned) {
  return at::empty(tensor.sizes(),
                   tensor.options().device(at::kCPU).pinned_memory(pinned));
}

// Dtypes and strides are converted on the device; the host only copies bytes, unless
// they are not contiguous in memory.
void copy_to_device(const at::Tensor& self, const at::Tensor& dst, bool non_blocking) {
  check_storage(self);
  if (self.sizes() == dst.sizes() && same_bytes(self, dst)) {
    check_storage(dst);
    copy_bytes(self, dst, dst.device(), non_blocking);
    return;
  }
  at::Tensor host = self;
  if (!self.is_non_overlapping_and_dense()) {
    host = dense_on_host(self, non_blocking && self.is_pinned());
    host.copy_(self);
  }
  const at::Tensor device = staging(host, dst.device());
  copy_bytes(host, device, dst.device(), non_blocking);
  copy_on_device(device.expand(dst.sizes()), dst);
}

void copy_to_host(const at::Tensor& src, const at::Tensor& dst, bool non_blocking) {
  check_storage(dst);
  if (same_bytes(src, dst)) {
    check_storage(src);
    copy_bytes(src, dst, src.device(), non_blocking);
    return;
  }
  const bool dense = dst.is_non_overlapping_and_dense();
  const at::Tensor host = dense ? dst : dense_on_host(dst, /*pinned=*/false);
  const at::Tensor device = staging(host, src.device());
  copy_on_device(src, device);
  copy_bytes(device, host, src.device(), non_blocking);
  if (!dense) {  // the host places the values, which must have arrived
    synchronize_stream(src.device());
    dst.copy_(host);
  }
}

// The host warns on the call; a kernel that converts could only warn later.
void warn_of_lost_part(const at::Tensor& src, const at::Tensor& dst) {
  if (C10_UNLIKELY(src.is_complex() && !dst.is_complex() &&
                   dst.scalar_type() != at::kBool)) {
    TORCH_WARN_ONCE("Casting complex values to real discards the imaginary part");
  }
}

}  // namespace

// In a graph, the device alone moves the bytes: from or to memory that it reaches,
// which has the layout of the destination, and no thread waits.
void refuse_copy_in_capture(const at::Tensor& host, c10::Device device,
                            bool non_blocking) {
  if (StreamCapture::any() &&
      !(non_blocking && host.is_non_overlapping_and_dense() && host.is_pinned())) {
    refuse_in_capture(device.index(), "copy_ between host and device",
                      "it waits, unless it has non_blocking=True and the host tensor "
                      "is dense and pinned");
  }
}

// LITERALINCLUDE START: COPY_FROM
at::Tensor copy_from(const at::Tensor& self, const at::Tensor& dst, bool non_blocking) {
  const at::Tensor src = self.sizes() == dst.sizes() ? self : self.expand(dst.sizes());
  if (dst.numel() == 0 || dst.is_same(self)) {
    return dst;
  }
  at::assert_no_internal_overlap(dst);
  at::assert_no_partial_overlap(dst, src);
  warn_of_lost_part(src, dst);
  if (!on_openreg(src)) {
    refuse_copy_in_capture(self, dst.device(), non_blocking);
    copy_to_device(self, dst, non_blocking);
  } else if (!on_openreg(dst)) {
    refuse_copy_in_capture(dst, src.device(), non_blocking);
    copy_to_host(src, dst, non_blocking);
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
  if (dst.sizes() != self.sizes()) {
    dst.resize_(self.sizes());
    if (self.is_non_overlapping_and_dense()) {  // F-contiguous results of LAPACK
      dst.as_strided_(self.sizes(), self.strides());
    }
  }
  return copy_from(self, dst, /*non_blocking=*/false);
}

at::Scalar local_scalar_dense(const at::Tensor& self) {
  TORCH_CHECK(self.numel() == 1, "openreg: a tensor of ", self.numel(),
              " elements cannot be converted to a number");
  refuse_in_capture(self.device().index(), "item()",
                    "the host waits for the value, as it does in bool() and nonzero()");
  const at::Tensor value = at::detail::empty_cpu({}, self.scalar_type());
  check_storage(self);
  copy_bytes(self, value, self.device(), /*non_blocking=*/false);
  synchronize_stream(self.device());
  return at::native::_local_scalar_dense_cpu(value);
}

void record_stream(at::Tensor& self, at::Stream stream) {
  c10::getDeviceAllocator(at::kPrivateUse1)
      ->recordStream(self.storage().data_ptr(), stream);
}

}  // namespace openreg
