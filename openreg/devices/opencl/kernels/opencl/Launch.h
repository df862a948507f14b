// Launches kernels written in OpenCL C on the current stream; see
// docs/opencl/kernels.md.
//
//   constexpr Source kScale{R"(
//   kernel void scale(global T* out, global const T* in, COMPUTE(T) factor, long n) {
//     const long i = get_global_id(0);
//     if (i < n) STORE(T, out, i, LOAD(T, in, i) * factor);
//   })"};
//   launch(kScale, "scale", define("T", dtype), Range::items(n), writes(out), in,
//          Number(2.5, dtype), n);  // n is an int64_t
//
// Arguments are tensors, numbers (no bool and no size_t: their sizes differ), structs
// that can be copied, device addresses, and Local for local memory. The driver copies
// them, and memory is freed in the order of the stream: nothing must be kept alive.
#pragma once

#include <ATen/core/Tensor.h>
#include <oclrt_kernel.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <tuple>
#include <type_traits>

#include "csrc/aten/common/TensorMemory.h"
#include "csrc/kernels/opencl/Types.h"

namespace ocl::opencl {

// The text of a program, a literal: its address identifies it. The types of Types.h
// come before it, and the macro EXPRESSION if `expression`, another literal, is given.
struct Source {
  const char* text;
  const char* expression = nullptr;
};

// How many work items run, and in groups of how many.
struct Range {
  static constexpr size_t kGroup = 64;

  int dims;
  std::array<size_t, 3> global{};
  std::array<size_t, 3> local{};  // zeros: the driver decides

  explicit Range(std::initializer_list<int64_t> global,
                 std::initializer_list<int64_t> local = {})
      : dims(static_cast<int>(global.size())) {
    std::copy(global.begin(), global.end(), this->global.begin());
    std::copy(local.begin(), local.end(), this->local.begin());
  }

  // A work item for each of `count` things, in whole groups: a kernel returns at once
  // where get_global_id(0) >= count.
  static Range items(int64_t count, int64_t group = kGroup) {
    return groups((count + group - 1) / group, group);
  }
  // `count` groups of `size` work items each.
  static Range groups(int64_t count, int64_t size) {
    return Range({count * size}, {size});
  }
};

struct Address {
  const void* value;
  c10::DeviceIndex device = -1;  // of a tensor
};
struct Local {
  size_t bytes;
};
struct Bytes {  // the value of a struct, which outlives the call
  const void* data;
  size_t size;
};

// A tensor that the kernel writes. All others are only read.
inline Address writes(const at::Tensor& tensor) {
  if (!tensor.defined()) {
    return {nullptr};
  }
  check_storage(tensor);
  return {writable_address(tensor), tensor.device().index()};
}

inline Address argument(const at::Tensor& tensor) {
  if (!tensor.defined()) {
    return {nullptr};
  }
  check_storage(tensor);
  return {tensor.const_data_ptr(), tensor.device().index()};
}
template <class T>
Address argument(T* address) {
  return {address};
}
template <class T>
const T& argument(const T& value) {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
  return value;
}

inline orClArg driver_argument(const Address& address) {
  return {&address.value, sizeof(address.value), 1};
}
inline orClArg driver_argument(const Local& local) { return {nullptr, local.bytes, 0}; }
inline orClArg driver_argument(const Bytes& bytes) {
  return {bytes.data, bytes.size, 0};
}
inline orClArg driver_argument(const Number& number) {
  return {number.value(), number.size(), 0};
}
template <class T>
orClArg driver_argument(const T& value) {
  return {&value, sizeof(T), 0};
}

inline c10::DeviceIndex device_of(const Address& address) { return address.device; }
template <class T>
c10::DeviceIndex device_of(const T&) {
  return -1;
}

// Enqueues on the current stream of `device`, or of the current device if it is -1;
// throws if the driver refuses.
void enqueue(const Source& source, const char* name, const std::string& options,
             const Range& range, c10::DeviceIndex device, const orClArg* args,
             int count);

// Launches where the tensors are: not every caller has made their device current.
template <class... Args>
void launch(const Source& source, const char* name, const std::string& options,
            const Range& range, const Args&... args) {
  const std::tuple<std::remove_cvref_t<decltype(argument(args))>...> values{
      argument(args)...};
  std::apply(
      [&](const auto&... each) {
        const std::array<orClArg, sizeof...(Args)> list{driver_argument(each)...};
        const c10::DeviceIndex device =
            std::max({c10::DeviceIndex{-1}, device_of(each)...});
        enqueue(source, name, options, range, device, list.data(), sizeof...(Args));
      },
      values);
}

}  // namespace ocl::opencl
