// Questions about values that only the device can answer; see docs/frontend/random.md.
#pragma once

#include <ATen/core/Tensor.h>

#include "csrc/aten/native/Factory.h"
#include "csrc/aten/native/RandomKernel.h"
#include "csrc/runtime/OpenRegCapture.h"
#include "csrc/runtime/OpenRegStream.h"

namespace openreg {

// Whether `holds(element)` for every element of `tensor`, which has dtype T. The host
// waits for the answer, so that a wrong value is refused before anything is written. In
// a capture nobody can wait: a wrong value becomes a fault of the replay that meets it.
template <class T = double, class Predicate>
bool all_elements(const at::Tensor& tensor, Predicate holds) {
  const bool captured = Capture::of(current_stream(tensor.device().index())) != nullptr;
  const at::Tensor answer =
      empty({}, at::kBool, at::kStrided, tensor.device(), std::nullopt, std::nullopt);
  launch(
      "check values", tensor.device(),
      [in = KernelTensor::input(tensor), out = KernelTensor(answer), holds, captured] {
        const Elements<T> from(in.on_device());
        bool all = true;
        std::array<T, kTileWords> values;
        for (int64_t first = 0; all && first < from.count(); first += kTileWords) {
          const int64_t count = std::min(kTileWords, from.count() - first);
          from.read(first, count, values.data());
          all = std::all_of(values.begin(), values.begin() + count, holds);
        }
        TORCH_CHECK(all || !captured, "a value is out of range");
        *static_cast<bool*>(out.on_device().mutable_data_ptr()) = all;
      });
  return captured || answer.item<bool>();
}

}  // namespace openreg
