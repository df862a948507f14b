// A kernel that only takes time, for tests of streams; see docs/runtime/stream.md.
#include <torch/library.h>

#include <chrono>
#include <thread>

#include "csrc/kernels/cpu/Launch.h"
#include "csrc/runtime/device/OpenRegFunctions.h"

namespace openreg {
namespace {

// Keeps the current stream of the current device busy for `cycles` ticks of a clock of
// 1 GHz, that is nanoseconds. ValueError if they are negative.
void sleep(int64_t cycles) {
  TORCH_CHECK_VALUE(cycles >= 0, "openreg: _sleep takes a number of cycles, but got ",
                    cycles);
  const c10::Device device(c10::DeviceType::PrivateUse1, current_device());
  cpu::launch_on("_sleep", device, [cycles] {
    // A busy device does not keep the host's processors busy: no spinning here.
    std::this_thread::sleep_for(std::chrono::nanoseconds(cycles));
  });
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(openreg, m) { m.def("_sleep(int cycles) -> ()", sleep); }

}  // namespace openreg
