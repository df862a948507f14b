// A kernel that only takes time, for tests of streams; see docs/runtime/stream.md.
#include "csrc/simulator/Sleep.h"

#include <chrono>
#include <thread>

#include "csrc/aten/launch/Launch.h"
#include "csrc/runtime/device/OpenRegFunctions.h"

namespace openreg {

void sleep_(int64_t cycles) {
  TORCH_CHECK_VALUE(cycles >= 0, "openreg: _sleep takes a number of cycles, but got ",
                    cycles);
  const c10::Device device(c10::DeviceType::PrivateUse1, current_device());
  launch("_sleep", device, [cycles] {
    // A busy device does not keep the host's processors busy: no spinning here.
    std::this_thread::sleep_for(std::chrono::nanoseconds(cycles));
  });
}

}  // namespace openreg
