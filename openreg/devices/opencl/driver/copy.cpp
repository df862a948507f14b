// Copies and fills; see docs/opencl/driver.md.
#include <cstring>
#include <memory>
#include <utility>

#include "memory.h"
#include "process.h"
#include "stream.h"

namespace oclrt {
namespace {

// Up to this size, a copy from pageable memory does not wait: it copies the source.
constexpr size_t kStagedBytes = size_t{64} << 10;

const char* name_of(orMemoryType type) {
  return type == orMemoryTypeDevice ? "device memory"
         : type == orMemoryTypeHost ? "pinned host memory"
                                    : "pageable host memory, or not allocated";
}

struct Side {
  const char* name;
  orMemoryType type = orMemoryTypeUnregistered;
};

orError_t look_up(const void* ptr, size_t count, Side* side) {
  if (ptr == nullptr) return fail(orErrorInvalidValue, "%s is null", side->name);
  const auto first = reinterpret_cast<uintptr_t>(ptr);
  if (first + count < first) {
    return fail(orErrorInvalidValue, "%s is %p: %zu bytes from there wrap around zero",
                side->name, ptr, count);
  }
  Allocation found;
  if (!find_allocation(ptr, &found)) return orSuccess;
  side->type = found.type;
  const size_t rest = found.size - (first - found.base);
  if (count <= rest) return orSuccess;
  return fail(orErrorInvalidValue,
              "%s is %p: %zu bytes from there leave their allocation, which has %zu "
              "bytes after that address",
              side->name, ptr, count, rest);
}

// OpenCL: a device address looks like one of the host. One that was freed, or never
// allocated, counts as pageable memory: only a kind with a device address detects it.
orError_t check_kind(orMemcpyKind kind, const Side& dst, const Side& src) {
  if (kind == orMemcpyDefault) return orSuccess;
  const bool to_device = kind == orMemcpyHostToDevice || kind == orMemcpyDeviceToDevice;
  const bool from_device =
      kind == orMemcpyDeviceToHost || kind == orMemcpyDeviceToDevice;
  for (const auto& [side, device] :
       {std::pair{&dst, to_device}, std::pair{&src, from_device}}) {
    if ((side->type == orMemoryTypeDevice) == device) continue;
    return fail(orErrorInvalidMemcpyDirection,
                "the kind requires %s memory as %s, which is %s",
                device ? "device" : "host", side->name, name_of(side->type));
  }
  return orSuccess;
}

bool overlap(const void* dst, const void* src, size_t count) {
  const auto to = reinterpret_cast<uintptr_t>(dst);
  const auto from = reinterpret_cast<uintptr_t>(src);
  return to < from + count && from < to + count;
}

// OpenCL: ranges that overlap are an error. Instead, two copies through a temporary
// buffer, which the queue frees.
cl_int copy_overlapping(cl_command_queue queue, void* dst, const void* src,
                        size_t count, cl_event* event) {
  void* between = clSVMAlloc(platform().context, platform().svm_flags, count, 0);
  if (between == nullptr) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
  cl_int status =
      clEnqueueSVMMemcpy(queue, CL_FALSE, between, src, count, 0, nullptr, nullptr);
  if (status == CL_SUCCESS) {
    status =
        clEnqueueSVMMemcpy(queue, CL_FALSE, dst, between, count, 0, nullptr, nullptr);
  }
  const cl_int freed =
      clEnqueueSVMFree(queue, 1, &between, nullptr, nullptr, 0, nullptr, event);
  return status != CL_SUCCESS ? status : freed;
}

void CL_CALLBACK delete_staged(cl_event, cl_int, void* bytes) {
  delete[] static_cast<std::byte*>(bytes);
}

orError_t copy(void* dst, const void* src, size_t count, orMemcpyKind kind,
               orStream_t handle, bool wait) {
  if (kind < orMemcpyHostToHost || kind > orMemcpyDefault) {
    return fail(orErrorInvalidValue, "%d is not an orMemcpyKind",
                static_cast<int>(kind));
  }
  Stream stream;
  if (orError_t error = find_stream(handle, &stream)) return error;
  if (count == 0) return orSuccess;
  Side to{"dst"};
  Side from{"src"};
  if (orError_t error = look_up(dst, count, &to)) return error;
  if (orError_t error = look_up(src, count, &from)) return error;
  if (orError_t error = check_kind(kind, to, from)) return error;
  std::unique_ptr<std::byte[]> staged;
  if (!wait &&
      (to.type == orMemoryTypeUnregistered || from.type == orMemoryTypeUnregistered)) {
    wait = true;
    if (to.type != orMemoryTypeUnregistered && count <= kStagedBytes) {
      staged = std::make_unique_for_overwrite<std::byte[]>(count);
      std::memcpy(staged.get(), src, count);
      src = staged.get();
      wait = false;
    }
  }
  Command command;
  const auto add = [&](cl_command_queue queue, cl_event* event) {
    return overlap(dst, src, count) ? copy_overlapping(queue, dst, src, count, event)
                                    : clEnqueueSVMMemcpy(queue, CL_FALSE, dst, src,
                                                         count, 0, nullptr, event);
  };
  if (orError_t error = enqueue(*stream, "clEnqueueSVMMemcpy", add, &command)) {
    return error;
  }
  if (staged != nullptr) {
    const cl_int status =
        clSetEventCallback(command.get(), CL_COMPLETE, delete_staged, staged.get());
    if (status == CL_SUCCESS) {
      static_cast<void>(staged.release());
    } else {
      wait = true;
    }
  }
  if (!wait) return orSuccess;
  wait_for(command, stream->device);
  return fault_of(stream->device);
}

orError_t fill(void* ptr, int value, size_t count, orStream_t handle, bool wait) {
  Stream stream;
  if (orError_t error = find_stream(handle, &stream)) return error;
  if (count == 0) return orSuccess;
  Side to{"ptr"};
  if (orError_t error = look_up(ptr, count, &to)) return error;
  if (to.type != orMemoryTypeDevice) {
    return fail(orErrorInvalidDevicePointer, "ptr is %p, which is %s", ptr,
                name_of(to.type));
  }
  const auto byte = static_cast<cl_uchar>(value);
  Command command;
  const auto add = [&](cl_command_queue queue, cl_event* event) {
    return clEnqueueSVMMemFill(queue, ptr, &byte, sizeof byte, count, 0, nullptr,
                               event);
  };
  if (orError_t error = enqueue(*stream, "clEnqueueSVMMemFill", add, &command)) {
    return error;
  }
  if (!wait) return orSuccess;
  wait_for(command, stream->device);
  return fault_of(stream->device);
}

}  // namespace
}  // namespace oclrt

using namespace oclrt;

orError_t orMemcpy(void* dst, const void* src, size_t count, orMemcpyKind kind) {
  return call(__func__, kStart,
              [&] { return copy(dst, src, count, kind, nullptr, true); });
}

orError_t orMemcpyAsync(void* dst, const void* src, size_t count, orMemcpyKind kind,
                        orStream_t stream) {
  return call(__func__, kStart,
              [&] { return copy(dst, src, count, kind, stream, false); });
}

orError_t orMemset(void* ptr, int value, size_t count) {
  return call(__func__, kStart, [&] { return fill(ptr, value, count, nullptr, true); });
}

orError_t orMemsetAsync(void* ptr, int value, size_t count, orStream_t stream) {
  return call(__func__, kStart, [&] { return fill(ptr, value, count, stream, false); });
}
