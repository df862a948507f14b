// Memory: reservation, and what an address is. See docs/start/architecture.md.
//
// The memory of all devices is one file without a name (memfd), mapped twice. Range A
// cannot be touched; its addresses are what orMalloc returns. Range B can be read and
// written; it is the same memory as the device side sees it. A kernel gets from A to B
// by adding a constant. Behind the memory of this process both ranges go on with as
// many addresses again, for memory of other processes: see ipc.cpp.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "openreg.h"

namespace openreg::driver {

// LITERALINCLUDE START: PAGE_SIZE
// 4 KiB on x86-64. Kernels for Arm are built with pages of 4, 16 or 64 KiB.
inline size_t pageSize() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

inline size_t roundDownToPage(size_t bytes) { return bytes & ~(pageSize() - 1); }
inline size_t roundUpToPage(size_t bytes) {
  return roundDownToPage(bytes + pageSize() - 1);
}
// LITERALINCLUDE END: PAGE_SIZE

struct Reservation {
  std::byte* host = nullptr;  // start of range A
  ptrdiff_t shift = 0;        // B - A
  size_t own = 0;             // bytes of all devices of this process together
  size_t size = 0;            // with the addresses for memory of other processes
  int file = -1;              // holds the first `own` bytes
};
extern Reservation reservation;

orError_t reserveMemory();

inline bool inReservation(const void* ptr) {
  return reinterpret_cast<uintptr_t>(ptr) -
             reinterpret_cast<uintptr_t>(reservation.host) <
         reservation.size;
}

// For a `ptr` in the reservation: is it memory of this process?
inline bool isOwn(const void* ptr) {
  return static_cast<const std::byte*>(ptr) - reservation.host <
         static_cast<ptrdiff_t>(reservation.own);
}

// The device side of `ptr`, which must be in the reservation.
inline void* deviceSide(const void* ptr) {
  return const_cast<std::byte*>(static_cast<const std::byte*>(ptr)) + reservation.shift;
}

// The attributes of an address; never fails.
orPointerAttributes attributesOf(const void* ptr);

}  // namespace openreg::driver
