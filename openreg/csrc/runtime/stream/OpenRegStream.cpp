// Streams: c10::Stream to driver handle and back; see docs/runtime/stream.md.
#include "csrc/runtime/stream/OpenRegStream.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "csrc/runtime/device/OpenRegGuard.h"
#include "csrc/runtime/device/OpenRegTrace.h"

namespace openreg {
namespace {

constexpr auto kDeviceType = c10::DeviceType::PrivateUse1;
// VENDOR: the largest number of devices in one machine
constexpr size_t kMaxDevices = 64;  // the driver's limit

// LITERALINCLUDE START: CURRENT_STREAM
// The current stream's id of every device, for one thread. Zero-initialized: each
// thread starts on the default streams.
c10::StreamId& current_id(DeviceIndex device) {
  static thread_local std::array<c10::StreamId, kMaxDevices> ids{};
  return ids.at(static_cast<size_t>(device));
}
// LITERALINCLUDE END: CURRENT_STREAM

c10::Stream make_stream(DeviceIndex device, c10::StreamId id) {
  return c10::Stream(c10::Stream::UNSAFE, c10::Device(kDeviceType, device), id);
}

struct Pool {
  std::vector<orStream_t> streams;
  size_t next = 0;
};

}  // namespace

c10::Stream default_stream(DeviceIndex device) {
  check_device_index(device);
  return make_stream(device, 0);
}

c10::Stream current_stream(DeviceIndex device) {
  return make_stream(device, current_id(device));
}

// LITERALINCLUDE START: EXCHANGE_STREAM
c10::Stream exchange_stream(const c10::Stream& stream) {
  check_device_index(stream.device_index());
  c10::StreamId& id = current_id(stream.device_index());
  return make_stream(stream.device_index(), std::exchange(id, stream.id()));
}
// LITERALINCLUDE END: EXCHANGE_STREAM

// VENDOR: how many streams a pool holds, and the priorities of your driver
// LITERALINCLUDE START: STREAM_POOL
c10::Stream stream_from_pool(DeviceIndex device, int priority) {
  check_device_index(device);
  const auto [least, greatest] = priority_range();
  priority = std::clamp(priority, greatest, least);  // (1)

  static std::mutex mutex;
  // Never destroyed: threads may request streams while the process exits.
  static auto& pools = *new std::map<std::pair<DeviceIndex, int>, Pool>;
  std::unique_lock lock(mutex);
  Pool& pool = pools[{device, priority}];
  if (pool.streams.size() < kStreamsPerPool) {  // (2)
    pool.streams.reserve(kStreamsPerPool);      // no exception behind the creation
    const OpenRegGuard scope(device);
    orStream_t stream = nullptr;
    OPENREG_CHECK(orStreamCreateWithPriority(&stream, priority));
    pool.streams.push_back(stream);
    lock.unlock();
    trace(&PyTrace::trace_gpu_stream_creation, stream);
    return make_stream(device, reinterpret_cast<c10::StreamId>(stream));
  }
  const orStream_t stream = pool.streams[pool.next++ % kStreamsPerPool];  // (3)
  return make_stream(device, reinterpret_cast<c10::StreamId>(stream));
}
// LITERALINCLUDE END: STREAM_POOL

// LITERALINCLUDE START: EXTERNAL_STREAM
c10::Stream external_stream(orStream_t handle, DeviceIndex device) {
  const OpenRegGuard scope(device);  // NULL is the default stream of this device
  int owner = 0;
  OPENREG_CHECK(orStreamGetDevice(handle, &owner));
  TORCH_CHECK_VALUE(owner == device, "openreg: stream ", handle, " belongs to device ",
                    owner, ", not to device ", static_cast<int>(device));
  return make_stream(device, reinterpret_cast<c10::StreamId>(handle));
}
// LITERALINCLUDE END: EXTERNAL_STREAM

// LITERALINCLUDE START: STREAM_SWITCH
StreamSwitch switch_to(const c10::Stream& stream) {
  TORCH_CHECK_VALUE(stream.device_type() == kDeviceType,
                    "openreg: cannot make a stream of ", stream.device(),
                    " current: expected a stream of an openreg device");
  const DeviceIndex device = stream.device_index();
  external_stream(native_handle(stream), device);  // (1)
  const StreamSwitch before{current_stream(device),
                            current_stream(current_device())};  // (2)
  exchange_stream(stream);
  set_device(device);
  return before;
}

void switch_back(const StreamSwitch& before) {
  exchange_stream(before.there);
  exchange_stream(before.here);
  set_device(before.here.device_index());
}
// LITERALINCLUDE END: STREAM_SWITCH

int priority(const c10::Stream& stream) {
  const OpenRegGuard scope(stream.device_index());
  int priority = 0;
  OPENREG_CHECK(orStreamGetPriority(native_handle(stream), &priority));
  return priority;
}

std::pair<int, int> priority_range() {
  int least = 0;
  int greatest = 0;
  OPENREG_CHECK(orDeviceGetStreamPriorityRange(&least, &greatest));
  return {least, greatest};
}

}  // namespace openreg
