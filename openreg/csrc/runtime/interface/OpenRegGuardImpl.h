// The guard: switches devices, streams, events; see docs/runtime/guard.md.
#pragma once

#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace openreg {

// Follows c10/core/impl/DeviceGuardImplInterface.h. Every member acts on the calling
// thread; `noexcept` members ignore driver errors; all other members throw them.
// LITERALINCLUDE START: GUARD
class OpenRegGuardImpl final : public c10::impl::DeviceGuardImplInterface {
 public:
  static constexpr c10::DeviceType static_type = c10::DeviceType::PrivateUse1;
  OpenRegGuardImpl() = default;
  explicit OpenRegGuardImpl(c10::DeviceType type) { TORCH_CHECK(type == static_type); }
  c10::DeviceType type() const override { return static_type; }

  // Devices.
  c10::Device getDevice() const override;
  void setDevice(c10::Device device) const override;
  c10::Device exchangeDevice(c10::Device device) const override;
  void uncheckedSetDevice(c10::Device device) const noexcept override;
  c10::DeviceIndex deviceCount() const noexcept override;
  c10::DeviceCapability getDeviceCapability(c10::Device device) const override;
  void synchronizeDevice(c10::DeviceIndex device) const override;
  // LITERALINCLUDE END: GUARD

  // LITERALINCLUDE START: GUARD_STREAMS
  // Streams.
  c10::Stream getStream(c10::Device device) const override;
  c10::Stream getDefaultStream(c10::Device device) const override;
  c10::Stream getStreamFromGlobalPool(c10::Device device,
                                      bool high_priority) const override;
  c10::Stream getNewStream(c10::Device device, int priority) const override;
  c10::Stream exchangeStream(c10::Stream stream) const override;
  void* getStreamNativeHandle(c10::Stream stream) const override;
  bool queryStream(const c10::Stream& stream) const override;
  void synchronizeStream(const c10::Stream& stream) const override;
  bool isStreamCapturing(const c10::Stream& stream) const override;
  void recordDataPtrOnStream(const c10::DataPtr& ptr,
                             const c10::Stream& stream) const override;
  // LITERALINCLUDE END: GUARD_STREAMS

  // LITERALINCLUDE START: GUARD_EVENTS
  // Events. `void*` is the driver's orEvent_t, created by the first record.
  void record(void** event, const c10::Stream& stream, c10::DeviceIndex device,
              c10::EventFlag flag) const override;
  void block(void* event, const c10::Stream& stream) const override;
  bool queryEvent(void* event) const override;
  void synchronizeEvent(void* event) const override;
  double elapsedTime(void* start, void* end, c10::DeviceIndex device) const override;
  void destroyEvent(void* event, c10::DeviceIndex device) const noexcept override;
};
// LITERALINCLUDE END: GUARD_EVENTS

}  // namespace openreg
