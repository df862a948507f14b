// The hooks: what torch calls besides operators; see docs/start/first-backend.md.
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/DeviceGuard.h>

#include "csrc/runtime/device/StarterFunctions.h"
#include "csrc/runtime/errors/StarterException.h"

namespace starter {
namespace {

// LITERALINCLUDE START: STARTER_HOOKS
struct StarterHooks final : at::PrivateUse1HooksInterface {
  bool isAvailable() const override { return device_count() > 0; }

  // Each backward pass calls this, and reads the stream of each device in use.
  // VENDOR: whether your driver starts each device by itself
  bool hasPrimaryContext(c10::DeviceIndex) const override { return is_initialized(); }

  // storage.resize_(): new memory, with as many of the old bytes as it can hold.
  void resizePrivateUse1Bytes(const c10::Storage& storage,
                              size_t bytes) const override {
    c10::StorageImpl* impl = storage.unsafeGetStorageImpl();
    TORCH_CHECK(impl->resizable(), "starter: this storage cannot be resized");
    const c10::DeviceGuard scope(impl->device());
    c10::DataPtr data = impl->allocator()->allocate(bytes);
    if (const size_t kept = std::min(bytes, impl->nbytes()); kept != 0) {
      STARTER_CHECK(orMemcpy(data.get(), impl->data(), kept, orMemcpyDeviceToDevice));
    }
    impl->set_data_ptr(std::move(data));
    impl->set_nbytes(bytes);
  }
};

const bool registered = [] {
  at::RegisterPrivateUse1HooksInterface(new StarterHooks);  // never destroyed
  return true;
}();
// LITERALINCLUDE END: STARTER_HOOKS

}  // namespace
}  // namespace starter
