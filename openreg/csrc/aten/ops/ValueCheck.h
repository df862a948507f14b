// Questions about values that only the device can answer; see docs/frontend/random.md.
#pragma once

#include <ATen/core/Tensor.h>

#include "csrc/aten/NativeFunctions.h"
#include "csrc/aten/kernels/ValueCheck.h"
#include "csrc/aten/launch/KernelTensorArg.h"
#include "csrc/aten/launch/Launch.h"
#include "csrc/runtime/stream/OpenRegStream.h"
#include "csrc/runtime/stream/StreamCapture.h"

namespace openreg {

// Whether every element of `tensor` is in `range`. The host waits for the answer, so
// that a wrong value is refused before anything is written. A capture cannot
// wait: a wrong value becomes a fault of the replay that meets it.
inline bool all_elements(const at::Tensor& tensor, kernels::ValueRange range) {
  const auto in = KernelTensorArg::input(tensor);
  TORCH_CHECK(!tensor.is_cpu(),
              "openreg: expected a tensor on the openreg device, but ",
              "got a number on the CPU; move it with .to('openreg')");
  const bool captured =
      StreamCapture::of(current_stream(tensor.device().index())) != nullptr;
  const at::Tensor answer =
      empty({}, at::kBool, at::kStrided, tensor.device(), std::nullopt, std::nullopt);
  launch("check values", tensor.device(),
         [in, out = KernelTensorArg(answer), range, captured] {
           kernels::check_values(in.alias(), range, /*must_hold=*/captured,
                                 out.alias());
         });
  return captured || answer.item<bool>();
}

}  // namespace openreg
