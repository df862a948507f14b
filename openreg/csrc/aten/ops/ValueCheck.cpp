// Checks of values that only the device can make; see docs/frontend/random.md.
#include "csrc/aten/ops/ValueCheck.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/isfinite.h>

#include "csrc/runtime/stream/OpenRegStream.h"
#include "csrc/runtime/stream/StreamCapture.h"

namespace openreg {
namespace {

bool all_on_host(const at::Tensor& values, ValueRange range) {
  switch (range) {
    case ValueRange::Probability:
      return values.ge(0).logical_and_(values.le(1)).all().item<bool>();
    case ValueRange::Positive:
      return values.gt(0).all().item<bool>();
    case ValueRange::NotNegative:
      return values.ge(0).all().item<bool>();
    case ValueRange::Finite:
      return at::isfinite(values).all().item<bool>();
    case ValueRange::FiniteNotNegative:
      return at::isfinite(values).logical_and_(values.ge(0)).all().item<bool>();
  }
  TORCH_INTERNAL_ASSERT(false, "openreg: an unknown range");
}

}  // namespace

bool all_elements(const at::Tensor& tensor, ValueRange range) {
  TORCH_CHECK(!tensor.is_cpu(),
              "openreg: expected a tensor on the openreg device, but ",
              "got a number on the CPU; move it with .to('openreg')");
  if (check_values_kernel == nullptr) {
    return all_on_host(tensor.cpu(), range);
  }
  const bool captured =
      StreamCapture::of(current_stream(tensor.device().index())) != nullptr;
  const at::Tensor answer = at::empty({}, tensor.options().dtype(at::kBool));
  check_values_kernel(tensor, range, /*must_hold=*/captured, answer);
  return captured || answer.item<bool>();
}

}  // namespace openreg
