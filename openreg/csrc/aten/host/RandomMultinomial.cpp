// Draws of indices by their probabilities; see docs/frontend/random.md.
#include <ATen/MemoryOverlap.h>
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include <optional>

#include "csrc/aten/ops/NativeFunctions.h"
#include "csrc/aten/ops/ValueCheck.h"
#include "csrc/kernels/RandomMultinomial.h"
#include "csrc/runtime/random/OpenRegGenerator.h"
#include "csrc/runtime/random/Philox.h"

namespace openreg {
namespace {

using OptionalGenerator = std::optional<at::Generator>;

constexpr int64_t kMaxCategories = 1 << 24;

at::Tensor new_tensor(at::IntArrayRef sizes, at::ScalarType dtype, at::Device device) {
  return openreg::empty(sizes, dtype, at::kStrided, device, std::nullopt, std::nullopt);
}

void check_draws(const at::Tensor& self, int64_t samples, bool replacement,
                 const at::Tensor& out) {
  TORCH_CHECK(out.device() == self.device(),
              "multinomial arguments must have the same device");
  TORCH_CHECK(self.dim() == 1 || self.dim() == 2, "prob_dist must be 1 or 2 dim");
  TORCH_CHECK(at::isFloatingType(self.scalar_type()),
              "multinomial only supports floating-point dtypes for input, got: ",
              self.scalar_type());
  TORCH_CHECK(out.scalar_type() == at::kLong,
              "multinomial expects Long tensor out, got: ", out.scalar_type());
  TORCH_CHECK(samples > 0, "cannot sample n_sample <= 0 samples");
  TORCH_CHECK(
      replacement || samples <= self.size(-1),
      "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  TORCH_CHECK(self.size(-1) <= kMaxCategories,
              "number of categories cannot exceed 2^24");
  TORCH_CHECK_NOT_IMPLEMENTED(!at::isFloat8Type(self.scalar_type()),
                              "\"multinomial\" not implemented for '",
                              self.scalar_type(), "'");
}

// Sums each row up from its start, in place, and says whether each row has a sum.
bool cumulate(const at::Tensor& rows) {
  const at::Tensor sums = new_tensor({rows.size(0)}, at::kDouble, rows.device());
  kernels::cumulate_rows(rows, sums);
  return all_elements(sums, ValueRange::Positive);
}

at::Tensor& multinomial_out(const at::Tensor& self, int64_t samples, bool replacement,
                            OptionalGenerator generator, at::Tensor& out) {
  check_draws(self, samples, replacement, out);
  const int64_t rows = self.dim() == 1 ? 1 : self.size(0);
  const int64_t categories = self.size(-1);
  if (rows == 0) {
    out.resize_({0, samples});
    return out;
  }
  at::Tensor work = new_tensor({rows, categories}, at::kDouble, self.device());
  work.copy_(self.dim() == 1 ? self.unsqueeze(0) : self);
  if (replacement) {
    TORCH_CHECK(
        all_elements(work, ValueRange::NotNegative),  // false for NaN
        "invalid multinomial distribution (encountering probability entry < 0)");
    TORCH_CHECK(all_elements(work, ValueRange::Finite),
                "invalid multinomial distribution (encountering probability entry = "
                "infinity or NaN)");
  } else {
    TORCH_CHECK(all_elements(work, ValueRange::FiniteNotNegative),
                "probability tensor contains either `inf`, `nan` or element < 0");
  }
  at::Tensor sums = work;
  if (!replacement) {  // the probabilities themselves are still needed
    sums = new_tensor(work.sizes(), at::kDouble, self.device());
    sums.copy_(work);
  }
  TORCH_CHECK(cumulate(sums),
              "invalid multinomial distribution (sum of probabilities <= 0)");
  if (self.dim() == 1) {
    out.resize_({samples});
  } else {
    out.resize_({rows, samples});
  }
  at::assert_no_internal_overlap(out);
  const at::Tensor result = self.dim() == 1 ? out.unsqueeze(0) : out;
  const PhiloxKernelState random =
      reserve(generator, self.device().index(),
              blocks_for(replacement ? result.numel() : work.numel(), 2));
  if (replacement) {
    kernels::multinomial_with_replacement(sums, random, result);
  } else {
    const at::Tensor order = new_tensor(work.sizes(), at::kLong, self.device());
    kernels::multinomial_without_replacement(work, random, order, result);
  }
  return out;
}

at::Tensor multinomial(const at::Tensor& self, int64_t samples, bool replacement,
                       OptionalGenerator generator) {
  at::Tensor out = new_tensor({0}, at::kLong, self.device());
  multinomial_out(self, samples, replacement, generator, out);
  return out;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("multinomial", multinomial);
  m.impl("multinomial.out", multinomial_out);
}

}  // namespace
}  // namespace openreg
