// Times operators with events, without Kineto; see docs/modules/profiler.md.
#include <c10/core/Event.h>
#include <c10/util/ApproximateClock.h>
#include <torch/csrc/profiler/stubs/base.h>

#include <functional>
#include <memory>

#include "csrc/runtime/device/OpenRegFunctions.h"
#include "csrc/runtime/device/OpenRegGuard.h"
#include "csrc/runtime/device/OpenRegRegistration.h"
#include "csrc/runtime/errors/OpenRegException.h"
#include "csrc/runtime/stream/OpenRegStream.h"

namespace openreg {
namespace {

using torch::profiler::impl::ProfilerVoidEventStub;

// LITERALINCLUDE START: PROFILER_STUBS
struct OpenRegProfilerStubs final : torch::profiler::impl::ProfilerStubs {
  // Before an operator and after it: marks the current stream.
  void record(c10::DeviceIndex* device, ProfilerVoidEventStub* event,
              int64_t* cpu_ns) const override {
    const c10::DeviceIndex current = current_device();
    if (device != nullptr) {
      *device = current;
    }
    if (cpu_ns != nullptr) {
      *cpu_ns = c10::getTime();
    }
    constexpr auto flag = c10::EventFlag::BACKEND_DEFAULT;  // has its time
    const auto mark = std::make_shared<c10::Event>(c10::DeviceType::PrivateUse1, flag);
    mark->record(current_stream(current));
    *event = mark;
  }
  // LITERALINCLUDE END: PROFILER_STUBS

  // LITERALINCLUDE START: PROFILER_ELAPSED
  // The microseconds between two marks. A mark has its device.
  float elapsed(const ProfilerVoidEventStub* start,
                const ProfilerVoidEventStub* end) const override {
    const auto* from = static_cast<const c10::Event*>(start->get());
    const auto* to = static_cast<const c10::Event*>(end->get());
    from->synchronize();
    to->synchronize();
    return static_cast<float>(from->elapsedTime(*to) * 1000);
  }
  // LITERALINCLUDE END: PROFILER_ELAPSED

  // LITERALINCLUDE START: PROFILER_STUBS_REST
  bool enabled() const override { return device_count() > 0; }

  void onEachDevice(std::function<void(int)> visit) const override {
    for (c10::DeviceIndex device = 0; device < device_count(); ++device) {
      const OpenRegGuard scope(device);
      visit(device);
    }
  }

  void synchronize() const override { OPENREG_CHECK(orDeviceSynchronize()); }

  // For a tool that watches the program from outside, as NVIDIA's do. There is none.
  void mark(const char*) const override {}
  void rangePush(const char*) const override {}
  void rangePop() const override {}
};

const Registration profiler_registered("the profiler's events", [] {
  torch::profiler::impl::registerPrivateUse1Methods(
      new OpenRegProfilerStubs);  // never destroyed: threads may profile at exit
});
// LITERALINCLUDE END: PROFILER_STUBS_REST

}  // namespace
}  // namespace openreg
