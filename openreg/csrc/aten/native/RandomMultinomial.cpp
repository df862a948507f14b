// Draws of indices by their probabilities; see docs/frontend/random.md.
#include <ATen/MemoryOverlap.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "csrc/aten/native/DeviceCheck.h"
#include "csrc/aten/native/Random.h"
#include "csrc/aten/native/RandomKernel.h"

namespace openreg {
namespace {

constexpr int64_t kMaxCategories = 1 << 24;

at::Tensor new_tensor(at::IntArrayRef sizes, at::ScalarType dtype, at::Device device) {
  return openreg::empty(sizes, dtype, at::kStrided, device, std::nullopt, std::nullopt);
}

void check_arguments(const at::Tensor& self, int64_t samples, bool replacement,
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

// Sums each row up from its start, in place, and tells whether each row has a sum.
bool cumulate(const at::Tensor& rows) {
  const int64_t categories = rows.size(1);
  const at::Tensor sums = new_tensor({rows.size(0)}, at::kDouble, rows.device());
  launch("multinomial", rows.device(),
         [in = KernelTensor(rows), out = KernelTensor(sums), categories] {
           auto* row = static_cast<double*>(in.on_device().mutable_data_ptr());
           const at::Tensor to = out.on_device();
           auto* sum = static_cast<double*>(to.mutable_data_ptr());
           for (int64_t i = 0; i < to.numel(); ++i, row += categories) {
             std::partial_sum(row, row + categories, row);
             sum[i] = categories > 0 ? row[categories - 1] : 0;
           }
         });
  return all_elements(sums, [](double sum) { return sum > 0; });
}

// Each sample looks its random number up in the sums.
void with_replacement(const at::Tensor& sums, const at::Tensor& out,
                      PhiloxSource random) {
  const int64_t categories = sums.size(1);
  const int64_t samples = out.size(1);
  launch("multinomial", out.device(),
         [in = KernelTensor::input(sums), to = KernelTensor(out), random, categories,
          samples] {
           const auto* all = static_cast<double*>(in.on_device().mutable_data_ptr());
           const Elements<int64_t> result(to.on_device());
           for_each_tile<2>(
               random.state(), result.count(),
               [&](int64_t first, int64_t count, const uint32_t* words) {
                 std::array<int64_t, kTileWords / 2> values;
                 for (int64_t i = 0; i < count; ++i) {
                   const double* row = all + (first + i) / samples * categories;
                   const double* last = row + categories - 1;
                   const double at = unit<double, double>(words + 2 * i) * *last;
                   // Where the sums exceed the number; it may have been rounded up to
                   // the whole sum: then the first place that reaches it.
                   const double* found = std::upper_bound(row, last, at);
                   values[i] =
                       (*found > at ? found : std::lower_bound(row, last, at)) - row;
                 }
                 result.write(first, count, values.data());
               });
         });
}

// Category i waits for an exponential time of rate p[i]: the first to come are drawn.
void without_replacement(const at::Tensor& rows, const at::Tensor& out,
                         PhiloxSource random) {
  const int64_t categories = rows.size(1);
  const int64_t samples = out.size(1);
  const at::Tensor order = new_tensor(rows.sizes(), at::kLong, rows.device());
  launch(
      "multinomial", out.device(),
      [in = KernelTensor(rows), scratch = KernelTensor(order), to = KernelTensor(out),
       random, categories, samples] {
        auto* times = static_cast<double*>(in.on_device().mutable_data_ptr());
        auto* indices = static_cast<int64_t*>(scratch.on_device().mutable_data_ptr());
        const Elements<int64_t> result(to.on_device());
        for_each_tile<2>(random.state(), result.count() / samples * categories,
                         [&](int64_t first, int64_t count, const uint32_t* words) {
                           for (int64_t i = 0; i < count; ++i) {
                             times[first + i] =
                                 -std::log(positive_unit<double>(words + 2 * i)) /
                                 times[first + i];  // never, where the probability is 0
                             indices[first + i] = (first + i) % categories;
                           }
                         });
        for (int64_t row = 0; row < result.count() / samples; ++row) {
          int64_t* begin = indices + row * categories;
          const double* time = times + row * categories;
          std::partial_sort(begin, begin + samples, begin + categories,
                            [time](int64_t a, int64_t b) {
                              return time[a] != time[b] ? time[a] < time[b] : a < b;
                            });
          result.write(row * samples, samples, begin);
        }
      });
}

}  // namespace

at::Tensor& multinomial_out(const at::Tensor& self, int64_t samples, bool replacement,
                            OptionalGenerator generator, at::Tensor& out) {
  check_arguments(self, samples, replacement, out);
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
        all_elements(work, [](double p) { return p >= 0; }),  // false for NaN
        "invalid multinomial distribution (encountering probability entry < 0)");
    TORCH_CHECK(all_elements(work, [](double p) { return std::isfinite(p); }),
                "invalid multinomial distribution (encountering probability entry = "
                "infinity or NaN)");
  } else {
    TORCH_CHECK(all_elements(work, [](double p) { return p >= 0 && std::isfinite(p); }),
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
  const PhiloxSource random =
      reserve(generator, self.device().index(),
              blocks_for(replacement ? result.numel() : work.numel(), 2));
  if (replacement) {
    with_replacement(sums, result, random);
  } else {
    without_replacement(work, result, random);
  }
  return out;
}

at::Tensor multinomial(const at::Tensor& self, int64_t samples, bool replacement,
                       OptionalGenerator generator) {
  at::Tensor out = new_tensor({0}, at::kLong, self.device());
  multinomial_out(self, samples, replacement, generator, out);
  return out;
}

}  // namespace openreg
