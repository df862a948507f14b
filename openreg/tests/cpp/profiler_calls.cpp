// What of the profiler only C++ reaches; see docs/modules/profiler.md.
#include <ATen/ops/full.h>
#include <c10/core/Event.h>
#include <c10/util/ApproximateClock.h>
#include <openreg.h>
#include <torch/csrc/profiler/orchestration/observer.h>
#include <torch/csrc/profiler/stubs/base.h>

#include <iostream>

using torch::profiler::impl::ProfilerStubs;

namespace {

// Torch 2.13 calls these for CUDA alone.
void call_stubs(const ProfilerStubs& stubs) {
  const c10::impl::VirtualGuardImpl guard(at::kPrivateUse1);
  stubs.onEachDevice([&](int device) {
    std::cout << "visits " << device << ", current " << guard.getDevice() << '\n';
  });
  std::cout << "then " << guard.getDevice() << '\n';
  torch::profiler::impl::ProfilerVoidEventStub start, end;
  c10::DeviceIndex device = -1;
  int64_t host = 0;
  const int64_t before = c10::getTime();
  stubs.record(&device, &start, &host);
  const auto x = at::full({4}, 1, at::TensorOptions(at::kPrivateUse1));
  stubs.record(nullptr, &end, nullptr);
  std::cout << "enabled " << stubs.enabled() << ", device "
            << (device == 0 && host >= before) << ", microseconds "
            << (stubs.elapsed(&start, &end) >= 20'000) << '\n';
  orSimHold(nullptr);
  x.zero_();
  c10::Event done(at::kPrivateUse1);
  done.record(guard.getStream(x.device()));
  std::cout << "done " << done.query();
  orSimRelease(nullptr);
  stubs.synchronize();
  std::cout << ", then " << done.query() << '\n';
  stubs.rangePush("range");
  stubs.mark("mark");
  stubs.rangePop();
}

}  // namespace

int main() {
  using torch::profiler::impl::ActivityType;
  std::cout << '"' << torch::profiler::impl::actToString(ActivityType::PrivateUse1)
            << "\"\n";
  c10::register_privateuse1_backend("openreg");
  call_stubs(*torch::profiler::impl::privateuse1Stubs());
}
