// The guard: switches devices, streams, events; see docs/runtime/guard.md.
#include "csrc/runtime/interface/OpenRegGuardImpl.h"

#include <c10/core/CachingDeviceAllocator.h>

#include "csrc/runtime/device/AfterSynchronize.h"
#include "csrc/runtime/device/OpenRegGuard.h"
#include "csrc/runtime/device/OpenRegTrace.h"
#include "csrc/runtime/stream/OpenRegStream.h"

namespace openreg {
namespace {

c10::Device device_of(DeviceIndex index) {
  return c10::Device(c10::DeviceType::PrivateUse1, index);
}

// The driver's NULL stream means "default stream of the current device", so a call that
// takes a stream is made with the stream's device current.
template <class Call>
auto on(const c10::Stream& stream, Call call) {
  const OpenRegGuard scope(stream.device_index());
  return call(native_handle(stream));
}

orEvent_t as_event(void* event) { return static_cast<orEvent_t>(event); }

// Separates the two results of a query from real errors.
bool is_ready(orError_t result) {
  if (result == orErrorNotReady) {
    return false;
  }
  OPENREG_CHECK(result);
  return true;
}

}  // namespace

c10::Device OpenRegGuardImpl::getDevice() const { return device_of(current_device()); }

void OpenRegGuardImpl::setDevice(c10::Device device) const {
  set_device(device.index());
}

c10::Device OpenRegGuardImpl::exchangeDevice(c10::Device device) const {
  return device_of(exchange_device(device.index()));
}

void OpenRegGuardImpl::uncheckedSetDevice(c10::Device device) const noexcept {
  // Called from destructors; errors cannot be reported.
  static_cast<void>(orSetDevice(device.index()));
}

c10::DeviceIndex OpenRegGuardImpl::deviceCount() const noexcept {
  return device_count();
}

// VENDOR: the dtypes that tensors on your device may have
// LITERALINCLUDE START: CAPABILITY
c10::DeviceCapability OpenRegGuardImpl::getDeviceCapability(c10::Device device) const {
  const OpenRegGuard exists(device.has_index() ? device.index() : current_device());
  // A new DeviceCapability contains every dtype. These dtypes can be allocated, filled,
  // copied and converted into each other.
  c10::DeviceCapability capability;
  uint64_t& bits = capability.capability_data.capability_bits;
  bits = 0;  // (1)
  for (const c10::ScalarTypeIndex dtype :
       {c10::kIndex_Bool,          c10::kIndex_Byte,
        c10::kIndex_Char,          c10::kIndex_Short,
        c10::kIndex_Int,           c10::kIndex_Long,
        c10::kIndex_UInt16,        c10::kIndex_UInt32,
        c10::kIndex_UInt64,        c10::kIndex_Half,
        c10::kIndex_BFloat16,      c10::kIndex_Float,
        c10::kIndex_Double,        c10::kIndex_ComplexHalf,
        c10::kIndex_ComplexFloat,  c10::kIndex_ComplexDouble,
        c10::kIndex_Float8_e5m2,   c10::kIndex_Float8_e5m2fnuz,
        c10::kIndex_Float8_e4m3fn, c10::kIndex_Float8_e4m3fnuz,
        c10::kIndex_Float8_e8m0fnu}) {
    bits |= uint64_t{1} << dtype;  // (2)
  }
  return capability;
}
// LITERALINCLUDE END: CAPABILITY

void OpenRegGuardImpl::synchronizeDevice(c10::DeviceIndex device) const {
  synchronize(device);
}

// Torch calls this from code that must not throw, such as the construction of autograd
// nodes. So it throws only for a device that does not exist, of which there can be no
// tensor, and does not call the driver, which fails in a forked child.
c10::Stream OpenRegGuardImpl::getStream(c10::Device device) const {
  if (!device.has_index()) {
    return current_stream(current_device());
  }
  check_device_index(device.index());
  return current_stream(device.index());
}

c10::Stream OpenRegGuardImpl::getDefaultStream(c10::Device device) const {
  return default_stream(device.has_index() ? device.index() : current_device());
}

c10::Stream OpenRegGuardImpl::getStreamFromGlobalPool(c10::Device device,
                                                      bool high_priority) const {
  return getNewStream(device, high_priority ? -1 : 0);
}

c10::Stream OpenRegGuardImpl::getNewStream(c10::Device device, int priority) const {
  return stream_from_pool(device.has_index() ? device.index() : current_device(),
                          priority);
}

c10::Stream OpenRegGuardImpl::exchangeStream(c10::Stream stream) const {
  return exchange_stream(stream);
}

void* OpenRegGuardImpl::getStreamNativeHandle(c10::Stream stream) const {
  return native_handle(stream);
}

bool OpenRegGuardImpl::queryStream(const c10::Stream& stream) const {
  return is_ready(on(stream, orStreamQuery));
}

void OpenRegGuardImpl::synchronizeStream(const c10::Stream& stream) const {
  trace(&PyTrace::trace_gpu_stream_synchronization, native_handle(stream));
  OPENREG_CHECK(on(stream, orStreamSynchronize));
  synchronized();
}

bool OpenRegGuardImpl::isStreamCapturing(const c10::Stream& stream) const {
  int capturing = 0;
  OPENREG_CHECK(
      on(stream, [&](orStream_t s) { return orStreamIsCapturing(s, &capturing); }));
  return capturing != 0;
}

void OpenRegGuardImpl::recordDataPtrOnStream(const c10::DataPtr& ptr,
                                             const c10::Stream& stream) const {
  c10::getDeviceAllocator(type())->recordStream(ptr, stream);
}

// LITERALINCLUDE START: EVENT_RECORD
void OpenRegGuardImpl::record(void** event, const c10::Stream& stream,
                              c10::DeviceIndex device, c10::EventFlag flag) const {
  TORCH_CHECK(device == -1 || device == stream.device_index(), "Event device index ",
              static_cast<int>(device),
              " does not match recording stream's device index ",
              static_cast<int>(stream.device_index()), ".");
  orEvent_t handle = as_event(*event);
  if (handle == nullptr) {  // (1)
    const bool timing = flag == c10::EventFlag::BACKEND_DEFAULT;
    OPENREG_CHECK(orEventCreateWithFlags(
        &handle, timing ? orEventDefault : orEventDisableTiming));
    *event = handle;
    trace(&PyTrace::trace_gpu_event_creation, handle);
  }
  OPENREG_CHECK(
      on(stream, [&](orStream_t s) { return orEventRecord(handle, s); }));  // (2)
  trace(&PyTrace::trace_gpu_event_record, handle, openreg::native_handle(stream));
}
// LITERALINCLUDE END: EVENT_RECORD

// LITERALINCLUDE START: EVENT_WAIT
void OpenRegGuardImpl::block(void* event, const c10::Stream& stream) const {
  if (event != nullptr) {  // (1)
    OPENREG_CHECK(on(
        stream, [&](orStream_t s) { return orStreamWaitEvent(s, as_event(event)); }));
    trace(&PyTrace::trace_gpu_event_wait, as_event(event), native_handle(stream));
  }
}

bool OpenRegGuardImpl::queryEvent(void* event) const {
  return event == nullptr || is_ready(orEventQuery(as_event(event)));
}

void OpenRegGuardImpl::synchronizeEvent(void* event) const {
  if (event != nullptr) {
    trace(&PyTrace::trace_gpu_event_synchronization, as_event(event));
    OPENREG_CHECK(orEventSynchronize(as_event(event)));  // (2)
    synchronized();                                      // (3)
  }
}
// LITERALINCLUDE END: EVENT_WAIT

// LITERALINCLUDE START: EVENT_TIME
double OpenRegGuardImpl::elapsedTime(void* start, void* end, c10::DeviceIndex) const {
  TORCH_CHECK(start != nullptr && end != nullptr,
              "Both events must be recorded before calculating elapsed time.");
  float milliseconds = 0;  // (1)
  OPENREG_CHECK(orEventElapsedTime(&milliseconds, as_event(start), as_event(end)));
  return milliseconds;
}

void OpenRegGuardImpl::destroyEvent(void* event, c10::DeviceIndex) const noexcept {
  if (event != nullptr) {
    trace(&PyTrace::trace_gpu_event_deletion, as_event(event));  // catches and logs
    static_cast<void>(orEventDestroy(as_event(event)));          // (2)
  }
}
// LITERALINCLUDE END: EVENT_TIME

// LITERALINCLUDE START: REGISTER_GUARD
C10_REGISTER_GUARD_IMPL(PrivateUse1, OpenRegGuardImpl);
// LITERALINCLUDE END: REGISTER_GUARD

}  // namespace openreg
