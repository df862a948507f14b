// The simulator's delays and failures, for tests; see docs/runtime/errors.md.
#include "csrc/kernels/cpu/Simulator.h"

#include "csrc/runtime/device/OpenRegGuard.h"
#include "csrc/runtime/stream/OpenRegStream.h"

namespace openreg {

void sim_hold(const c10::Stream& stream) {
  const OpenRegGuard scope(stream.device_index());
  OPENREG_CHECK(orSimHold(native_handle(stream)));
}

void sim_release(const c10::Stream& stream) {
  const OpenRegGuard scope(stream.device_index());
  OPENREG_CHECK(orSimRelease(native_handle(stream)));
}

void sim_set_delay(unsigned int microseconds, unsigned int seed) {
  OPENREG_CHECK(orSimSetDelay(microseconds, seed));
}

std::pair<unsigned int, unsigned int> sim_delay() {
  unsigned int microseconds = 0;
  unsigned int seed = 0;
  OPENREG_CHECK(orSimGetDelay(&microseconds, &seed));
  return {microseconds, seed};
}

void sim_fail_kernel(const std::optional<std::string>& name, int after) {
  OPENREG_CHECK(orSimFailKernel(name ? name->c_str() : nullptr, after));
}

void sim_fail_allocation(int count) { OPENREG_CHECK(orSimFailAllocation(count)); }

void sim_reset() {
  OPENREG_CHECK(orSimReset());
  for (DeviceIndex device = 0; device < device_count(); ++device) {
    const OpenRegGuard scope(device);
    OPENREG_CHECK(orDeviceReset());
  }
}

}  // namespace openreg
