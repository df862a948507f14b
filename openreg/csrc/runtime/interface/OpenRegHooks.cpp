// The hooks: what torch calls besides operators; see docs/runtime/hooks.md.
#include "csrc/runtime/interface/OpenRegHooks.h"

#include <ATen/core/CachingHostAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>

#include "csrc/runtime/device/OpenRegGuard.h"
#include "csrc/runtime/device/OpenRegInit.h"
#include "csrc/runtime/device/OpenRegRegistration.h"
#include "csrc/runtime/random/OpenRegGenerator.h"
#include "csrc/runtime/stream/OpenRegStream.h"

namespace openreg {

bool OpenRegHooks::isAvailable() const { return device_count() > 0; }

// VENDOR: whether your driver starts each device by itself
bool OpenRegHooks::hasPrimaryContext(DeviceIndex device) const {
  // The driver starts all devices at once. The autograd engine calls this before it
  // queries the streams of a device, so that it initializes no unused device.
  return is_initialized() && device >= 0 && device < device_count();
}

void OpenRegHooks::init() const { initialize(); }

DeviceIndex OpenRegHooks::deviceCount() const { return device_count(); }

DeviceIndex OpenRegHooks::getCurrentDevice() const { return current_device(); }

void OpenRegHooks::setCurrentDevice(DeviceIndex device) const { set_device(device); }

DeviceIndex OpenRegHooks::exchangeDevice(DeviceIndex device) const {
  return exchange_device(device);
}

DeviceIndex OpenRegHooks::maybeExchangeDevice(DeviceIndex device) const {
  // "Maybe" is for devices where a switch of the device creates a context, which is not
  // the case here.
  return exchange_device(device);
}

// VENDOR: whether your driver finds the device of an address; otherwise keep a table
at::Device OpenRegHooks::getDeviceFromPtr(void* data) const {
  orPointerAttributes attributes{};
  OPENREG_CHECK(orPointerGetAttributes(&attributes, data));
  TORCH_CHECK(attributes.type == orMemoryTypeDevice, "openreg: ", data,
              " is not an address of device memory");
  return at::Device(at::kPrivateUse1, static_cast<DeviceIndex>(attributes.device));
}

const at::Generator& OpenRegHooks::getDefaultGenerator(DeviceIndex device) const {
  return default_generator(device);
}

at::Generator OpenRegHooks::getNewGenerator(DeviceIndex device) const {
  const DeviceIndex index = device == -1 ? current_device() : device;
  check_device_index(index);
  return at::make_generator<OpenRegGeneratorImpl>(index);
}

// LITERALINCLUDE START: RESIZE
void OpenRegHooks::resizePrivateUse1Bytes(const c10::Storage& storage,
                                          size_t new_bytes) const {
  c10::StorageImpl* impl = storage.unsafeGetStorageImpl();
  TORCH_CHECK(impl->resizable(),
              "openreg: this storage cannot be resized: it does not own its memory, or "
              "shares it with other processes: resize a clone() of the tensor");
  TORCH_CHECK(new_bytes <= std::numeric_limits<ptrdiff_t>::max(),
              "openreg: a storage cannot have a negative size");
  if (new_bytes == impl->nbytes()) {
    return;
  }
  const OpenRegGuard scope(impl->device().index());  // (1)
  c10::DataPtr data = impl->allocator()->allocate(new_bytes);
  const size_t kept = std::min(new_bytes, impl->nbytes());
  if (kept > 0) {
    const void* old = impl->data();  // (2)
    const c10::Stream stream = current_stream(impl->device().index());
    OPENREG_CHECK(orMemcpyAsync(data.get(), old, kept, orMemcpyDeviceToDevice,
                                native_handle(stream)));
    c10::getDeviceAllocator(at::kPrivateUse1)
        ->recordStream(impl->data_ptr(), stream);  // (3)
  }
  impl->set_data_ptr(std::move(data));  // (4)
  impl->set_nbytes(new_bytes);
}
// LITERALINCLUDE END: RESIZE

// LITERALINCLUDE START: PINNED_HOOKS
bool OpenRegHooks::isPinnedPtr(const void* data) const {
  orPointerAttributes attributes{};
  OPENREG_CHECK(orPointerGetAttributes(&attributes, data));
  return attributes.type == orMemoryTypeHost;
}

at::Allocator* OpenRegHooks::getPinnedMemoryAllocator() const {
  return at::getHostAllocator(at::kPrivateUse1);  // the registered one, no other
}
// LITERALINCLUDE END: PINNED_HOOKS

// LITERALINCLUDE START: REGISTER_HOOKS
namespace {
const Registration hooks_registered("the hooks", [] {
  at::RegisterPrivateUse1HooksInterface(new OpenRegHooks);  // never destroyed
});
}  // namespace
// LITERALINCLUDE END: REGISTER_HOOKS

}  // namespace openreg
