// Questions about values that only the device can answer; see docs/frontend/random.md.
#pragma once

#include <ATen/core/Tensor.h>

#include "csrc/aten/NativeFunctions.h"
#include "csrc/kernels/ValueCheck.h"
#include "csrc/runtime/stream/OpenRegStream.h"
#include "csrc/runtime/stream/StreamCapture.h"

namespace openreg {

// Whether every element of `tensor` is in `range`. The host waits for the answer, so
// that a wrong value is refused before anything is written. A capture cannot
// wait: a wrong value becomes a fault of the replay that meets it.
inline bool all_elements(const at::Tensor& tensor, kernels::ValueRange range) {
  TORCH_CHECK(!tensor.is_cpu(),
              "openreg: expected a tensor on the openreg device, but ",
              "got a number on the CPU; move it with .to('openreg')");
  const bool captured =
      StreamCapture::of(current_stream(tensor.device().index())) != nullptr;
  const at::Tensor answer =
      empty({}, at::kBool, at::kStrided, tensor.device(), std::nullopt, std::nullopt);
  kernels::check_values(tensor, range, /*must_hold=*/captured, answer);
  return captured || answer.item<bool>();
}

}  // namespace openreg
