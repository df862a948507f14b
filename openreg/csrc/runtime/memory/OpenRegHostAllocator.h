// The allocator of pinned host memory: a cache; see docs/runtime/host-memory.md.
#pragma once

#include <ATen/core/CachingHostAllocator.h>
#include <openreg.h>

#include <utility>

#include "csrc/Export.h"
#include "csrc/runtime/stream/OpenRegStream.h"

namespace openreg {

// A mark in a stream, as the cache keeps it in its queue. In a stream that is captured
// a mark would belong to the graph: then it is made after the capture.
class HostEvent {
 public:
  explicit HostEvent(c10::Stream stream) noexcept : stream_(stream) { record(); }
  HostEvent(HostEvent&& other) noexcept
      : stream_(other.stream_),
        event_(std::exchange(other.event_, nullptr)),
        recorded_(other.recorded_) {}
  HostEvent& operator=(HostEvent&& other) noexcept {
    std::swap(stream_, other.stream_);
    std::swap(event_, other.event_);
    std::swap(recorded_, other.recorded_);
    return *this;
  }
  ~HostEvent();

  // True if nothing before the mark runs any more. Never waits, never throws.
  bool passed() noexcept;

 private:
  void record() noexcept;

  c10::Stream stream_;
  orEvent_t event_ = nullptr;  // null, though recorded: the device is lost
  bool recorded_ = false;
};

// Follows CachingHostAllocatorImpl of ATen/core/CachingHostAllocator.h, which does the
// caching and is thread safe. A backend provides only the driver calls.
//
// Pinned memory is freed in destructors, on any thread, with or without the GIL. So the
// members on this path must not throw: record_stream, query_event, free_block.
// free_block runs under the locks of the cache and waits for the devices: kernels must
// not own pinned memory.
// LITERALINCLUDE START: HOST_ALLOCATOR_IMPL
using HostBlock = at::HostBlock<c10::Stream>;

class OpenRegHostAllocatorImpl final
    : public at::CachingHostAllocatorImpl<c10::Stream, HostEvent, HostBlock> {
 public:
  std::pair<void*, void*> allocate(size_t size) override;
  void empty_cache() override;
  void copy_data(void* dst, const void* src, size_t count) const override;

 private:
  void allocate_host_memory(size_t size, void** ptr) override;  // (1)
  void free_block(HostBlock* block) override;                   // (2)
  void record_stream(std::optional<std::vector<HostEvent>>& events,
                     c10::Stream stream) override;  // (3)
  bool query_event(HostEvent& event) override { return event.passed(); }
  c10::Stream get_current_stream() const override;
  bool stream_is_capturing(c10::Stream stream) const override;
};
// LITERALINCLUDE END: HOST_ALLOCATOR_IMPL

// The one allocator of this process. Registered for PrivateUse1; never destroyed.
OPENREG_EXPORT at::HostAllocator& host_allocator();

}  // namespace openreg
