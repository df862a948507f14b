// Device-generic C++: no word of openreg but its name; see
// docs/frontend/accelerator-api.md.
#include <ATen/DeviceAccelerator.h>
#include <ATen/ops/full.h>
#include <c10/core/Event.h>

#include <cstdio>

namespace acc = at::accelerator;

namespace {

void check(bool right, const char* what) {
  std::printf("%s %s\n", right ? "ok" : "WRONG", what);
}

// LITERALINCLUDE START: CPP_ACCELERATOR
// Sums on the last device of whatever accelerator there is.
double sum_on_last_device() {
  const c10::DeviceType type = acc::getAccelerator(/*checked=*/true).value();  // (1)
  const auto last = static_cast<c10::DeviceIndex>(acc::deviceCount() - 1);
  const c10::DeviceIndex previous = acc::exchangeDevice(last);  // (2)
  at::Tensor x = at::full({4}, 1.5, at::TensorOptions(type));
  acc::synchronizeDevice(last);  // (3)
  acc::setDeviceIndex(previous);
  return x.sum().item<double>();
}
// LITERALINCLUDE END: CPP_ACCELERATOR

// An event of one stream is waited for by another, without naming the backend.
bool streams_and_events(c10::DeviceType type) {
  const c10::Stream before = acc::getCurrentStream(0);
  const c10::impl::VirtualGuardImpl guard(type);
  const c10::Stream side = guard.getNewStream(c10::Device(type, 0), 0);
  acc::setCurrentStream(side);
  const bool current = acc::getCurrentStream(0) == side;
  c10::Event event(type);
  event.record(side);
  event.block(before);
  acc::setCurrentStream(before);
  before.synchronize();
  return current && event.query() && side.native_handle() != nullptr;
}

bool throws(void (*call)()) {
  try {
    call();
  } catch (const c10::Error&) {
    return true;
  }
  return false;
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // a crash keeps what was printed
  c10::register_privateuse1_backend("openreg");
  const auto type = acc::getAccelerator(true).value();
  check(type == c10::DeviceType::PrivateUse1, "getAccelerator");
  check(acc::isAccelerator(type) && !acc::isAccelerator(at::kCPU), "isAccelerator");
  check(!acc::isAcceleratorExcluded(type, at::kPrivateUse1), "isAcceleratorExcluded");
  check(acc::deviceCount() == 2, "deviceCount");
  check(acc::getDeviceIndex() == 0, "getDeviceIndex");
  check(sum_on_last_device() == 6.0, "exchangeDevice, synchronizeDevice");
  acc::setDeviceIndex(1);
  check(acc::getDeviceIndex() == 1, "setDeviceIndex");
  // The header promises the device that was current. Torch 2.13 returns the new one.
  check(acc::maybeExchangeDevice(0) == 0, "maybeExchangeDevice: docs/ship/known-gaps");
  check(acc::getDeviceIndex() == 0, "maybeExchangeDevice");
  check(streams_and_events(type), "setCurrentStream, getCurrentStream");
  const auto has = acc::getDeviceCapability(0).capability_data.supported_scalar_types;
  check(has.has_Float && !has.has_QInt8, "getDeviceCapability");

  const auto kept = at::full({1024}, 1, at::TensorOptions(type).dtype(at::kFloat));
  check(acc::getDeviceStats(0).allocated_bytes[0].current == 4096, "getDeviceStats");
  {
    const auto more = at::full({1024}, 1, kept.options());
  }
  check(acc::getDeviceStats(0).allocated_bytes[0].peak == 8192, "peak");
  acc::resetPeakStats(0);
  check(acc::getDeviceStats(0).allocated_bytes[0].peak == 4096, "resetPeakStats");
  acc::resetAccumulatedStats(0);
  check(acc::getDeviceStats(0).allocated_bytes[0].allocated == 0,
        "resetAccumulatedStats");
  acc::emptyCache();
  acc::emptyHostCache();
  const auto [free, total] = acc::getMemoryInfo(0);
  check(free > 0 && free < total, "emptyCache, emptyHostCache, getMemoryInfo");
  check(throws([] { acc::setDeviceIndex(99); }), "setDeviceIndex(99) throws");
  return 0;
}
