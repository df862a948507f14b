// Times the parts of a training step for DDP's logging; see docs/modules/profiler.md.
#include <c10/core/Event.h>
#include <torch/csrc/distributed/c10d/reducer_timer.hpp>

#include <array>
#include <optional>

#include "csrc/runtime/stream/OpenRegStream.h"

namespace openreg {
namespace {

// LITERALINCLUDE START: DDP_TIMER
class OpenRegDdpTimer final : public c10d::Timer {
 public:
  explicit OpenRegDdpTimer(c10::Device device) : device_(device) {}

  // The host time, and a mark in the stream, which the device reaches later.
  void record(Event event) override {
    Timer::record(event);
    auto& mark = marks_.at(static_cast<size_t>(event));
    mark.emplace(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
    mark->record(current_stream(device_.index()));
  }
  // LITERALINCLUDE END: DDP_TIMER

  // LITERALINCLUDE START: DDP_DIFFERENCE
  // Nanoseconds on the device; nothing while one of the two has not been recorded.
  std::optional<int64_t> measureDifference(Event start, Event end) override {
    const auto& from = marks_.at(static_cast<size_t>(start));
    const auto& to = marks_.at(static_cast<size_t>(end));
    if (!from.has_value() || !to.has_value()) {
      return std::nullopt;
    }
    from->synchronize();
    to->synchronize();
    const double milliseconds = from->elapsedTime(*to);
    if (milliseconds < 0) {
      return std::nullopt;  // `end` is of an earlier step
    }
    return static_cast<int64_t>(milliseconds * 1e6);
  }

 private:
  static constexpr size_t kEvents = static_cast<size_t>(Event::kBackwardCommEnd) + 1;
  const c10::Device device_;
  std::array<std::optional<c10::Event>, kEvents> marks_;
};
// LITERALINCLUDE END: DDP_DIFFERENCE

}  // namespace
}  // namespace openreg

// LITERALINCLUDE START: REGISTER_DDP_TIMER
namespace c10d {
C10_REGISTER_TYPED_CLASS(TimerRegistry, c10::kPrivateUse1, openreg::OpenRegDdpTimer);
}  // namespace c10d
// LITERALINCLUDE END: REGISTER_DDP_TIMER
