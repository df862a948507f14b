// The simulator's delays and failures, for tests; see docs/runtime/errors.md.
#include "csrc/runtime/OpenRegSimulator.h"

#include "csrc/runtime/OpenRegStream.h"

namespace openreg {

void sim_hold(const c10::Stream& stream) {
  const DeviceScope scope(stream.device_index());
  OPENREG_CHECK(orSimHold(handle(stream)));
}

void sim_release(const c10::Stream& stream) {
  const DeviceScope scope(stream.device_index());
  OPENREG_CHECK(orSimRelease(handle(stream)));
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
    const DeviceScope scope(device);
    OPENREG_CHECK(orDeviceReset());
  }
}

}  // namespace openreg
