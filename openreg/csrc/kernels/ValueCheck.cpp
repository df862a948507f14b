// Checks of values that only the device can make; see docs/frontend/random.md.
#include <ATen/Dispatch.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "csrc/aten/ops/ValueCheck.h"
#include "csrc/kernels/cpu/Launch.h"
#include "csrc/kernels/cpu/RandomKernel.h"

namespace openreg {
namespace {

template <class T, class Predicate>
bool holds_for_all(const cpu::Elements<T>& from, Predicate holds) {
  bool all = true;
  std::array<T, cpu::kTileWords> values;
  for (int64_t first = 0; all && first < from.count(); first += cpu::kTileWords) {
    const int64_t count = std::min(cpu::kTileWords, from.count() - first);
    from.read(first, count, values.data());
    all = std::all_of(values.begin(), values.begin() + count, holds);
  }
  return all;
}

template <class T>
bool all_in_range(const cpu::Elements<T>& from, ValueRange range) {
  switch (range) {
    case ValueRange::Probability:
      return holds_for_all(from, [](T x) { return x >= 0 && x <= 1; });
    case ValueRange::Positive:
      return holds_for_all(from, [](T x) { return x > 0; });
    case ValueRange::NotNegative:
      return holds_for_all(from, [](T x) { return x >= 0; });
    case ValueRange::Finite:
      return holds_for_all(from, [](T x) { return std::isfinite(x); });
    case ValueRange::FiniteNotNegative:
      return holds_for_all(from, [](T x) { return x >= 0 && std::isfinite(x); });
  }
  TORCH_INTERNAL_ASSERT(false, "openreg: an unknown range");
}

void answer_for(const at::Tensor& tensor, ValueRange range, bool must_hold,
                at::Tensor& answer) {
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, tensor.scalar_type(), "check_values", [&] {
        const bool all = all_in_range(cpu::Elements<scalar_t>(tensor), range);
        TORCH_CHECK(all || !must_hold, "a value is out of range");
        *static_cast<bool*>(answer.mutable_data_ptr()) = all;
      });
}

void launch_check(const at::Tensor& tensor, ValueRange range, bool must_hold,
                  const at::Tensor& answer) {
  cpu::launch("check values", answer_for, tensor, range, must_hold, answer);
}

[[maybe_unused]] const bool check_registered =
    ((check_values_kernel = launch_check), true);

}  // namespace
}  // namespace openreg
