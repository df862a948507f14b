// Runs a function of the CPU whose result only the device can size; see
// docs/operators/sparse.md.
#pragma once

#include <exception>
#include <memory>
#include <type_traits>

#include "csrc/kernels/cpu/Launch.h"

namespace openreg::cpu {

// The result of device code for the host.
struct Found {
  at::Tensor tensor;  // on the CPU
  std::exception_ptr error;
};

// A function as device code that leaves its result. Its exception does not become a
// device fault, because the host waits and rethrows it.
template <class Function>
struct Finder;
template <class Result, class... Parameters>
struct Finder<Result (*)(Parameters...)> {
  std::shared_ptr<Found> found;
  Result (*function)(Parameters...);

  void operator()(Parameters... args) const {
    try {
      if constexpr (std::is_void_v<Result>) {
        function(args...);
      } else {
        found->tensor = function(args...);
      }
    } catch (...) {
      found->error = std::current_exception();
    }
  }
};

// Wraps such a launch: throws in a capture; waits, and rethrows what the function
// threw.
void refuse_to_wait(const char* name, c10::Device device);
void wait_for(const Found& found, c10::Device device);

// LITERALINCLUDE START: LAUNCH_AND_WAIT
// Launches `function` and waits for its result: a tensor of any layout, or nothing.
template <class Function, class... Args>
at::Tensor launch_and_wait(const char* name, c10::Device device, Function function,
                           const Args&... args) {
  refuse_to_wait(name, device);
  const auto found = std::make_shared<Found>();
  auto pointer = as_pointer(function);
  launch(name, Finder<decltype(pointer)>{found, pointer}, args...);
  wait_for(*found, device);
  return found->tensor;
}
// LITERALINCLUDE END: LAUNCH_AND_WAIT

// A tensor of any layout from the CPU: on `device`, by kernels that copy its members,
// or put into the sparse tensor `out`.
at::Tensor bring(const char* name, c10::Device device, const at::Tensor& found);
void bring_into(const char* name, const at::Tensor& out, const at::Tensor& found);

// Launches a function that returns a tensor of any layout, and brings it to the device.
// The host waits in between, because it must allocate the result and only the device
// has its number of elements.
template <class Function, class... Args>
at::Tensor launch_and_bring(const char* name, c10::Device device, Function function,
                            const Args&... args) {
  return bring(name, device, launch_and_wait(name, device, function, args...));
}

// The same, into a sparse tensor of the same layout that the caller gave.
template <class Function, class... Args>
void launch_and_bring_into(const char* name, const at::Tensor& out, Function function,
                           const Args&... args) {
  bring_into(name, out, launch_and_wait(name, out.device(), function, args...));
}

}  // namespace openreg::cpu
