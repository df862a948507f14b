// The hooks: what torch calls besides operators; see docs/runtime/hooks.md.
#pragma once

#include <ATen/detail/PrivateUse1HooksInterface.h>

namespace openreg {

// Follows ATen/detail/PrivateUse1HooksInterface.h, whose own versions of most of these
// members throw.
// LITERALINCLUDE START: HOOKS
class OpenRegHooks final : public at::PrivateUse1HooksInterface {
 public:
  bool isBuilt() const override { return true; }
  bool isAvailable() const override;
  bool hasPrimaryContext(c10::DeviceIndex device) const override;
  void init() const override;  // (1)

  c10::DeviceIndex deviceCount() const override;  // (2)
  c10::DeviceIndex getCurrentDevice() const override;
  void setCurrentDevice(c10::DeviceIndex device) const override;
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override;
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override;

  at::Device getDeviceFromPtr(void* data) const override;  // (3)
  const at::Generator& getDefaultGenerator(c10::DeviceIndex device) const override;
  at::Generator getNewGenerator(c10::DeviceIndex device) const override;
  void resizePrivateUse1Bytes(const c10::Storage& storage,
                              size_t new_bytes) const override;

  bool isPinnedPtr(const void* data) const override;  // (4)
  at::Allocator* getPinnedMemoryAllocator() const override;
};
// LITERALINCLUDE END: HOOKS

}  // namespace openreg
