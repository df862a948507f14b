// The random numbers of a graph that is captured; see docs/modules/graphs-capture.md.
#pragma once

#include <c10/core/Allocator.h>

#include <map>
#include <memory>
#include <mutex>

#include "csrc/Export.h"
#include "csrc/runtime/random/PhiloxState.h"
#include "csrc/runtime/stream/StreamCapture.h"

namespace openreg {

// What a graph draws from one generator in each replay.
struct GraphDraws {
  c10::DataPtr start;   // device memory: the seed, and the first counter of a replay
  uint64_t blocks = 0;  // of one replay
};
using CapturedRngStates =
    std::map<c10::intrusive_ptr<PhiloxGeneratorState>, GraphDraws>;

// A capture that a graph began. Thread safe.
class OPENREG_EXPORT Capture final : public StreamCapture {
 public:
  PhiloxKernelState reserve(const c10::intrusive_ptr<PhiloxGeneratorState>& words,
                            DeviceIndex device, uint64_t blocks) override;
  CapturedRngStates take_draws();

 private:
  std::mutex mutex_;  // nothing is allocated and no Python runs under it
  CapturedRngStates draws_;
};

}  // namespace openreg
