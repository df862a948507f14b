// The guard: which device, which stream, which event; see docs/start/first-backend.md.
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "csrc/runtime/errors/StarterException.h"
#include "csrc/runtime/stream/StarterStream.h"

namespace starter {
namespace {

// LITERALINCLUDE START: STARTER_GUARD_PURE
orEvent_t as_event(void* event) { return static_cast<orEvent_t>(event); }

struct StarterGuardImpl final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::DeviceType::PrivateUse1; }

  c10::Device getDevice() const override { return device_at(current_device()); }

  void setDevice(c10::Device device) const override { set_device(device.index()); }

  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device previous = getDevice();
    if (device != previous) {
      set_device(device.index());
    }
    return previous;
  }

  void uncheckedSetDevice(c10::Device device) const noexcept override {
    static_cast<void>(orSetDevice(device.index()));  // in destructors: cannot report
  }
  // LITERALINCLUDE END: STARTER_GUARD_PURE

  // LITERALINCLUDE START: STARTER_GUARD_STREAM
  c10::DeviceIndex deviceCount() const noexcept override { return device_count(); }

  // This must not throw: torch calls it from functions that are noexcept.
  c10::Stream getStream(c10::Device device) const override {
    return current_stream(device.has_index() ? device.index() : current_device());
  }

  c10::Stream exchangeStream(c10::Stream stream) const override {
    return getStream(stream.device());
  }
  // LITERALINCLUDE END: STARTER_GUARD_STREAM

  // LITERALINCLUDE START: STARTER_GUARD_SYNCHRONIZE
  void synchronizeDevice(c10::DeviceIndex device) const override {
    const c10::DeviceGuard scope(device_at(device));
    STARTER_CHECK(orDeviceSynchronize());
  }

  void synchronizeStream(const c10::Stream& stream) const override {
    synchronizeDevice(stream.device_index());
  }
  // LITERALINCLUDE END: STARTER_GUARD_SYNCHRONIZE

  // LITERALINCLUDE START: STARTER_GUARD_EVENTS
  void record(void** event, const c10::Stream& stream, c10::DeviceIndex /*device*/,
              c10::EventFlag flag) const override {
    const c10::DeviceGuard scope(stream.device());  // whose default stream is recorded
    if (*event == nullptr) {
      const bool timed = flag == c10::EventFlag::BACKEND_DEFAULT;
      orEvent_t made = nullptr;
      STARTER_CHECK(
          orEventCreateWithFlags(&made, timed ? orEventDefault : orEventDisableTiming));
      *event = made;
    }
    STARTER_CHECK(orEventRecord(as_event(*event), native_handle(stream)));
  }

  void block(void* event, const c10::Stream& stream) const override {
    if (event != nullptr) {
      const c10::DeviceGuard scope(stream.device());
      STARTER_CHECK(orStreamWaitEvent(native_handle(stream), as_event(event)));
    }
  }
  // LITERALINCLUDE END: STARTER_GUARD_EVENTS

  // LITERALINCLUDE START: STARTER_GUARD_WAIT
  bool queryEvent(void* event) const override {
    const orError_t answer =
        event != nullptr ? orEventQuery(as_event(event)) : orSuccess;
    if (answer != orErrorNotReady) {
      STARTER_CHECK(answer);
    }
    return answer == orSuccess;
  }

  void synchronizeEvent(void* event) const override {
    if (event != nullptr) {
      STARTER_CHECK(orEventSynchronize(as_event(event)));
    }
  }
  // LITERALINCLUDE END: STARTER_GUARD_WAIT

  // LITERALINCLUDE START: STARTER_GUARD_TIME
  double elapsedTime(void* start, void* end, c10::DeviceIndex) const override {
    TORCH_CHECK(start != nullptr && end != nullptr,
                "Both events must be recorded before calculating elapsed time.");
    float milliseconds = 0;
    STARTER_CHECK(orEventElapsedTime(&milliseconds, as_event(start), as_event(end)));
    return milliseconds;
  }

  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override {
    static_cast<void>(event != nullptr ? orEventDestroy(as_event(event)) : orSuccess);
  }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, StarterGuardImpl)
// LITERALINCLUDE END: STARTER_GUARD_TIME

}  // namespace
}  // namespace starter
