// Keeps a stream busy, for tests of streams; see docs/runtime/stream.md.
#include "csrc/runtime/stream/Sleep.h"

#include <chrono>
#include <thread>

#include "csrc/runtime/device/OpenRegFunctions.h"
#include "csrc/runtime/errors/OpenRegException.h"
#include "csrc/runtime/stream/OpenRegStream.h"

namespace openreg {
namespace {

// The number itself is the argument: a graph may run this again and again.
void sleep_on_host(void* nanoseconds) {
  std::this_thread::sleep_for(
      std::chrono::nanoseconds(reinterpret_cast<intptr_t>(nanoseconds)));
}

}  // namespace

void sleep(int64_t cycles) {
  TORCH_CHECK_VALUE(cycles >= 0,
                    "openreg: _sleep expects 0 to 2**63 - 1 cycles, but got ", cycles);
  if (sleep_kernel != nullptr) {
    sleep_kernel(cycles);
    return;
  }
  OPENREG_CHECK(orLaunchHostFunc(native_handle(current_stream(current_device())),
                                 sleep_on_host,
                                 reinterpret_cast<void*>(intptr_t{cycles})));
}

}  // namespace openreg
