// Device memory, straight from the driver; see docs/start/first-backend.md.
#include <c10/core/CachingDeviceAllocator.h>

#include "csrc/runtime/device/StarterFunctions.h"
#include "csrc/runtime/errors/StarterException.h"

namespace starter {
namespace {

// LITERALINCLUDE START: STARTER_ALLOCATOR
// The driver waits for the device before it frees, so no kernel loses its memory: this
// allocator keeps the order of the stream by waiting. A cache would not have to wait.
// VENDOR: whether your driver's free waits for the device; otherwise synchronize first
struct StarterDeviceAllocator final : c10::DeviceAllocator {
  // VENDOR: the alignment and the sizes of the memory that your driver allocates
  c10::DataPtr allocate(size_t bytes) override {
    void* memory = nullptr;
    if (bytes != 0) {
      STARTER_CHECK(orMalloc(&memory, bytes));
    }
    return {memory, memory, raw_deleter(), device_at(current_device())};
  }

  c10::DeleterFnPtr raw_deleter() const override {
    return [](void* memory) { static_cast<void>(orFree(memory)); };
  }

  void copy_data(void* to, const void* from, size_t bytes) const override {
    STARTER_CHECK(orMemcpy(to, from, bytes, orMemcpyDeviceToDevice));
  }
  // LITERALINCLUDE END: STARTER_ALLOCATOR

  // LITERALINCLUDE START: STARTER_ALLOCATOR_REST
  bool initialized() override { return is_initialized(); }
  // There is no cache, no second stream and no statistics.
  // VENDOR: a caching allocator, or a pool that your driver keeps
  void emptyCache(c10::MempoolId_t) override {}
  void recordStream(const c10::DataPtr&, c10::Stream) override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex) override {
    return {};
  }
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex) override {}
};

// Never destroyed: tensors in static variables are freed after everything else.
auto& allocator = *new StarterDeviceAllocator;
REGISTER_ALLOCATOR(c10::DeviceType::PrivateUse1, &allocator)
// LITERALINCLUDE END: STARTER_ALLOCATOR_REST

}  // namespace
}  // namespace starter
