// A kernel that only takes time, for tests of streams; see docs/runtime/stream.md.
#include "csrc/runtime/stream/Sleep.h"

#include <chrono>
#include <thread>

#include "csrc/kernels/cpu/HostKernel.h"
#include "csrc/runtime/device/OpenRegFunctions.h"

namespace openreg {
namespace {

void launch_sleep(int64_t nanoseconds) {
  const c10::Device device(c10::DeviceType::PrivateUse1, current_device());
  cpu::launch_on("_sleep", device, [nanoseconds] {
    // A busy device does not keep the host's processors busy: no spinning here.
    std::this_thread::sleep_for(std::chrono::nanoseconds(nanoseconds));
  });
}

[[maybe_unused]] const bool sleep_registered = ((sleep_kernel = launch_sleep), true);

}  // namespace
}  // namespace openreg
