// Draws of indices by their probabilities; see docs/frontend/random.md.
#include "csrc/kernels/RandomMultinomial.h"

#include <torch/library.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "csrc/kernels/cpu/Launch.h"
#include "csrc/kernels/cpu/RandomKernel.h"

namespace openreg::cpu {
namespace {

void cumulate(at::Tensor& rows, at::Tensor& totals) {
  const int64_t categories = rows.size(1);
  auto* row = static_cast<double*>(rows.mutable_data_ptr());
  auto* total = static_cast<double*>(totals.mutable_data_ptr());
  for (int64_t i = 0; i < totals.numel(); ++i, row += categories) {
    std::partial_sum(row, row + categories, row);
    total[i] = categories > 0 ? row[categories - 1] : 0;
  }
}

// Each sample looks up its random number in the sums.
void draw_again(const at::Tensor& sums, PhiloxState random, at::Tensor& out) {
  const int64_t categories = sums.size(1);
  const int64_t samples = out.size(1);
  const auto* all = static_cast<double*>(sums.mutable_data_ptr());
  const Elements<int64_t> result(out);
  for_each_tile<2>(
      random, result.count(), [&](int64_t first, int64_t count, const uint32_t* words) {
        std::array<int64_t, kTileWords / 2> values;
        for (int64_t i = 0; i < count; ++i) {
          const double* row = all + (first + i) / samples * categories;
          const double* last = row + categories - 1;
          const double at = unit<double, double>(words + 2 * i) * *last;
          // Where the sums exceed the number; it may have been rounded up
          // to the whole sum: then the first place that reaches it.
          const double* found = std::upper_bound(row, last, at);
          values[i] = (*found > at ? found : std::lower_bound(row, last, at)) - row;
        }
        result.write(first, count, values.data());
      });
}

// Category i gets an exponential time of rate p[i]; the earliest categories are drawn.
void draw_once(at::Tensor& rows, PhiloxState random, at::Tensor& order,
               at::Tensor& out) {
  const int64_t categories = rows.size(1);
  const int64_t samples = out.size(1);
  auto* times = static_cast<double*>(rows.mutable_data_ptr());
  auto* indices = static_cast<int64_t*>(order.mutable_data_ptr());
  const Elements<int64_t> result(out);
  for_each_tile<2>(random, result.count() / samples * categories,
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
}

}  // namespace
}  // namespace openreg::cpu

namespace openreg::kernels {

void cumulate_rows(const at::Tensor& rows, const at::Tensor& totals) {
  cpu::launch("multinomial", cpu::cumulate, rows, totals);
}

void multinomial_with_replacement(const at::Tensor& sums, PhiloxKernelState random,
                                  const at::Tensor& out) {
  cpu::launch("multinomial", cpu::draw_again, sums, random, out);
}

void multinomial_without_replacement(const at::Tensor& rows, PhiloxKernelState random,
                                     const at::Tensor& order, const at::Tensor& out) {
  cpu::launch("multinomial", cpu::draw_once, rows, random, order, out);
}

}  // namespace openreg::kernels
