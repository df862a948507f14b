// What every kernel includes: the grid, arguments, faults; see
// docs/modules/triton-compiler.md.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "atomics.h"
#include "floats.h"
#include "integers.h"
#include "math_functions.h"

#define OPENREG_KERNEL __attribute__((visibility("default")))

extern "C" {
// Of the driver; see openreg.h.
void* orKernelAddress(const void* ptr);
void orKernelFault(const char* message);
}

namespace triton_openreg {

constexpr int kIllegalAddress = 700;  // orErrorIllegalAddress
constexpr int kLaunchFailure = 719;   // orErrorLaunchFailure

// The device reaches all of its memory at one distance from where the host has it.
inline thread_local int64_t device_shift = 0;

inline int64_t distance(const void* host, const void* device) {
  return reinterpret_cast<int64_t>(device) - reinterpret_cast<int64_t>(host);
}

// One program of the grid: `tl.program_id` and `tl.num_programs`.
struct Program {
  int32_t id[3];
  int32_t count[3];
};

// What the launcher packs: the size of the grid, then the arguments, 8 bytes each.
class Slots {
 public:
  explicit Slots(const void* arguments)
      : bytes_(static_cast<const unsigned char*>(arguments)) {}

  template <class T>
  T get(int slot) const {
    T value;
    std::memcpy(&value, bytes_ + 8 * slot, sizeof value);
    return value;
  }

  // Where the device reaches a pointer; false if it is no device memory.
  template <class T>
  bool address(int slot, T*& out) const {
    T* pointer = get<T*>(slot);
    out = static_cast<T*>(orKernelAddress(pointer));
    if (out != nullptr) device_shift = distance(pointer, out);
    return out != nullptr || pointer == nullptr;  // an empty tensor has no memory
  }

 private:
  const unsigned char* bytes_;
};

inline int bad_address(int argument) {
  char message[80];
  std::snprintf(message, sizeof message, "argument %d is not device memory", argument);
  orKernelFault(message);
  return kIllegalAddress;
}

inline int fault(const Program& program, const char* what) {
  char message[512];
  std::snprintf(message, sizeof message, "%s in program (%d, %d, %d)", what,
                program.id[0], program.id[1], program.id[2]);
  orKernelFault(message);
  return kLaunchFailure;
}

// Runs all programs, one after the other; stops at the first fault.
template <class Body>
int run_grid(const Slots& slots, const Body& body) {
  Program program{{0, 0, 0}, {}};
  for (int axis = 0; axis < 3; ++axis) {
    program.count[axis] = static_cast<int32_t>(slots.get<int64_t>(axis));
  }
  for (int32_t z = 0; z < program.count[2]; ++z) {
    for (int32_t y = 0; y < program.count[1]; ++y) {
      for (int32_t x = 0; x < program.count[0]; ++x) {
        program.id[0] = x, program.id[1] = y, program.id[2] = z;
        if (const int code = body(program)) return code;
      }
    }
  }
  return 0;
}

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// The end of a loop over elements before the limit of a mask.
inline int clamp_end(int64_t limit, int size) {
  return static_cast<int>(limit < 0 ? 0 : limit < size ? limit : size);
}

// Pointers and numbers: a number is the address that the host has.
inline int64_t integer_from_pointer(const void* pointer) {
  return pointer == nullptr ? 0 : reinterpret_cast<int64_t>(pointer) - device_shift;
}

template <class Pointer>
Pointer pointer_from(int64_t number) {
  return static_cast<Pointer>(orKernelAddress(reinterpret_cast<void*>(number)));
}

}  // namespace triton_openreg
