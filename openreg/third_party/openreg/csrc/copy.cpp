// Copies and fills. See docs/start/architecture.md.
#include <cstring>

#include "call.h"
#include "capture.h"
#include "memory.h"
#include "stream.h"

namespace openreg::driver {
namespace {

// Small copies from pageable memory are read into a buffer at once, so that they need
// not wait for the stream. Real drivers do the same, with the same threshold.
constexpr size_t kStagedBytes = 64 << 10;

// One side of a copy, looked up and checked.
struct Side {
  const char* name;
  orMemoryType type = orMemoryTypeUnregistered;
  void* address = nullptr;  // as the device side reaches it
};

const char* nameOf(orMemoryType type) {
  return type == orMemoryTypeDevice ? "device memory"
         : type == orMemoryTypeHost ? "pinned host memory"
                                    : "pageable host memory";
}

orError_t lookUp(const void* ptr, size_t count, Side* side) {
  if (ptr == nullptr) return fail(orErrorInvalidValue, "%s is null", side->name);
  auto first = reinterpret_cast<uintptr_t>(ptr);
  if (first + count < first) {
    return fail(orErrorInvalidValue, "%s is %p: %zu bytes from there wrap around zero",
                side->name, ptr, count);
  }
  orPointerAttributes attributes = attributesOf(ptr);
  side->type = attributes.type;
  side->address = const_cast<void*>(ptr);
  if (attributes.type == orMemoryTypeUnregistered) {
    if (inReservation(ptr)) {
      return fail(orErrorInvalidDevicePointer,
                  "%s is %p: a device address outside every live allocation",
                  side->name, ptr);
    }
    if (first < reinterpret_cast<uintptr_t>(reservation.host) &&
        first + count > reinterpret_cast<uintptr_t>(reservation.host)) {
      return fail(orErrorInvalidValue,
                  "%s is %p: %zu bytes from there reach device memory", side->name, ptr,
                  count);
    }
    return orSuccess;
  }
  size_t offset = first - reinterpret_cast<uintptr_t>(attributes.base);
  if (count > attributes.size - offset) {
    return fail(
        orErrorInvalidValue,
        "%s is %p: %zu bytes from there leave their allocation, which has %zu bytes "
        "after that address",
        side->name, ptr, count, attributes.size - offset);
  }
  if (attributes.type == orMemoryTypeDevice) side->address = deviceSide(ptr);
  return orSuccess;
}

orError_t checkKind(orMemcpyKind kind, const Side& dst, const Side& src) {
  if (kind == orMemcpyDefault) return orSuccess;
  bool toDevice = kind == orMemcpyHostToDevice || kind == orMemcpyDeviceToDevice;
  bool fromDevice = kind == orMemcpyDeviceToHost || kind == orMemcpyDeviceToDevice;
  for (auto& [side, device] :
       {std::pair{&dst, toDevice}, std::pair{&src, fromDevice}}) {
    if ((side->type == orMemoryTypeDevice) == device) continue;
    return fail(orErrorInvalidMemcpyDirection,
                "the kind requires %s memory as %s, which is %s",
                device ? "device" : "host", side->name, nameOf(side->type));
  }
  return orSuccess;
}

orError_t copy(void* dst, const void* src, size_t count, orMemcpyKind kind,
               orStream_t handle, bool wait) {
  if (kind < orMemcpyHostToHost || kind > orMemcpyDefault) {
    return fail(orErrorInvalidValue, "%d is not an orMemcpyKind",
                static_cast<int>(kind));
  }
  auto stream = findStream(handle);
  if (!stream) return failStream(handle);
  if (count == 0) return orSuccess;
  Side to{"dst"};
  Side from{"src"};
  if (orError_t error = lookUp(dst, count, &to)) return error;
  if (orError_t error = lookUp(src, count, &from)) return error;
  if (orError_t error = checkKind(kind, to, from)) return error;
  Copy task{to.address, from.address, count, nullptr};
  if (wait) {
    if (orError_t error = refuseWaitFor(*stream)) return error;
  } else if (to.type == orMemoryTypeUnregistered ||
             from.type == orMemoryTypeUnregistered) {
    if (orError_t error = refusePageable(*stream)) return error;
    wait = true;
    if (to.type != orMemoryTypeUnregistered && count <= kStagedBytes) {
      task.staged = std::make_unique_for_overwrite<std::byte[]>(count);
      std::memcpy(task.staged.get(), task.src, count);
      task.src = task.staged.get();
      wait = false;
    }
  }
  uint64_t position = 0;
  if (orError_t error = stream->enqueue(std::move(task), &position)) return error;
  if (!wait) return orSuccess;
  stream->wait(position);
  return stream->device().reportFault();
}

orError_t fill(void* ptr, int value, size_t count, orStream_t handle, bool wait) {
  auto stream = findStream(handle);
  if (!stream) return failStream(handle);
  if (count == 0) return orSuccess;
  Side to{"ptr"};
  if (orError_t error = lookUp(ptr, count, &to)) return error;
  if (to.type != orMemoryTypeDevice) {
    return fail(orErrorInvalidDevicePointer, "ptr is %p, which is %s", ptr,
                nameOf(to.type));
  }
  if (wait) {
    if (orError_t error = refuseWaitFor(*stream)) return error;
  }
  uint64_t position = 0;
  if (orError_t error = stream->enqueue(Fill{to.address, value, count}, &position)) {
    return error;
  }
  if (!wait) return orSuccess;
  stream->wait(position);
  return stream->device().reportFault();
}

}  // namespace
}  // namespace openreg::driver

using namespace openreg::driver;

orError_t orMemcpy(void* dst, const void* src, size_t count, orMemcpyKind kind) {
  return call<kStart | kRecorded>(
      __func__, [&] { return copy(dst, src, count, kind, nullptr, true); });
}

orError_t orMemcpyAsync(void* dst, const void* src, size_t count, orMemcpyKind kind,
                        orStream_t stream) {
  return call<kStart | kRecorded>(
      __func__, [&] { return copy(dst, src, count, kind, stream, false); });
}

orError_t orMemset(void* ptr, int value, size_t count) {
  return call<kStart | kRecorded>(
      __func__, [&] { return fill(ptr, value, count, nullptr, true); });
}

orError_t orMemsetAsync(void* ptr, int value, size_t count, orStream_t stream) {
  return call<kStart | kRecorded>(
      __func__, [&] { return fill(ptr, value, count, stream, false); });
}
