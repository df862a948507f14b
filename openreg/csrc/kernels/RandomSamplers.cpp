// Distributions with rejection sampling; see docs/frontend/random.md.
#include "csrc/aten/meta/RandomSamplers.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/native/Distributions.h>
#include <ATen/ops/_sample_dirichlet_ops.h>
#include <ATen/ops/_standard_gamma_ops.h>
#include <ATen/ops/binomial_ops.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/poisson_ops.h>
#include <c10/util/MathConstants.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "csrc/aten/ops/ValueCheck.h"
#include "csrc/aten/structured/Structured.h"
#include "csrc/kernels/cpu/Launch.h"
#include "csrc/kernels/cpu/RandomKernel.h"
#include "csrc/runtime/random/OpenRegGenerator.h"

namespace openreg::cpu {
namespace {

namespace op = at::_ops;

// The number of random numbers that a rejection takes is not known in advance. So each
// element has separate counters: the low half counts from the offset on, the high half
// is the element.
// LITERALINCLUDE START: ELEMENT_STREAM
class ElementStream {
 public:
  ElementStream(PhiloxState state, int64_t element)
      : state_(state), element_(static_cast<uint64_t>(element) + 1) {}  // (1)

  double operator()() {  // in [0, 1)
    if (next_ == 4) {
      words_ = philox(state_.seed, state_.offset++, element_);  // (2)
      next_ = 0;
    }
    next_ += 2;
    return unit<double, double>(words_.data() + next_ - 2);
  }

  double normal() {
    const double radius = std::sqrt(-2 * std::log1p(-(*this)()));
    return radius * std::cos(2 * c10::pi<double> * (*this)());
  }

 private:
  PhiloxState state_;
  uint64_t element_;
  PhiloxBlock words_{};
  int next_ = 4;
};
// LITERALINCLUDE END: ELEMENT_STREAM

// Writes `sample(a[i], b[i], stream of i)` to `out[i]`; all have dtype T.
template <class T, class Sample>
void write_samples(const at::Tensor& out, PhiloxState random, const at::Tensor& a,
                   const at::Tensor& b, Sample sample) {
  const Elements<T> result(out);
  const Elements<T> first(a);
  const Elements<T> second(b);
  at::parallel_for(0, result.count(), 1024, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      ElementStream stream(random, i);
      T x;
      T y;
      first.read(i, 1, &x);
      second.read(i, 1, &y);
      const T value = sample(x, y, stream);
      result.write(i, 1, &value);
    }
  });
}

// Hörmann (1993), "The transformed rejection method for generating Poisson random
// variables", algorithm PTRS; for rates of 10 and more.
double poisson_by_rejection(double rate, ElementStream& stream) {
  const double b = 0.931 + 2.53 * std::sqrt(rate);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double accepted = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = stream() - 0.5;
    const double v = stream();
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= accepted) {
      return k;
    }
    if (k < 0 || (us < 0.013 && v > us)) {
      continue;
    }
    if (std::log(v * inverse_alpha / (a / (us * us) + b)) <=
        k * std::log(rate) - rate - std::lgamma(k + 1)) {
      return k;
    }
  }
}

// Counts the events of a Poisson process in one unit of time.
double poisson_by_counting(double rate, ElementStream& stream) {
  const double end = std::exp(-rate);
  double product = stream();
  double events = 0;
  for (; product > end; ++events) {
    product *= stream();
  }
  return events;
}

double sample_poisson(double rate, ElementStream& stream) {
  if (std::isinf(rate)) {
    return rate;  // the rejection would never end
  }
  return rate >= 10 ? poisson_by_rejection(rate, stream)
                    : poisson_by_counting(rate, stream);
}

double sample_standard_gamma(double alpha, ElementStream& stream) {
  if (!(alpha >= 0) || std::isinf(alpha)) {
    return std::numeric_limits<double>::quiet_NaN();  // as above
  }
  auto uniform = [&stream] { return stream(); };
  auto normal = [&stream] { return stream.normal(); };
  BaseSampler<double, decltype(uniform)> uniforms(uniform);
  BaseSampler<double, decltype(normal)> normals(normal);
  return sample_gamma<double, double, decltype(uniform), decltype(normal)>(
      alpha, uniforms, normals);
}

void draw_poisson(const at::Tensor& rate, PhiloxState random, at::Tensor& out) {
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, rate.scalar_type(), "poisson", [&] {
        write_samples<scalar_t>(
            out, random, rate, rate, [](scalar_t x, scalar_t, ElementStream& stream) {
              return static_cast<scalar_t>(sample_poisson(x, stream));
            });
      });
}

void draw_binomial(const at::Tensor& count, const at::Tensor& probability,
                   PhiloxState random, at::Tensor& out) {
  AT_DISPATCH_FLOATING_TYPES(count.scalar_type(), "binomial", [&] {
    write_samples<scalar_t>(
        out, random, count, probability,
        [](scalar_t n, scalar_t p, ElementStream& stream) {
          if (!std::isfinite(n)) {
            return std::numeric_limits<scalar_t>::quiet_NaN();  // it would never end
          }
          BaseSampler<double, ElementStream&> uniforms(stream);
          return sample_binomial<scalar_t, double, ElementStream&>(n, p, uniforms);
        });
  });
}

void draw_gamma(const at::Tensor& alpha, PhiloxState random, at::Tensor& out) {
  AT_DISPATCH_FLOATING_TYPES(alpha.scalar_type(), "_standard_gamma", [&] {
    write_samples<scalar_t>(
        out, random, alpha, alpha, [](scalar_t a, scalar_t, ElementStream& stream) {
          const auto value = static_cast<scalar_t>(sample_standard_gamma(a, stream));
          return value < std::numeric_limits<scalar_t>::min()
                     ? std::numeric_limits<scalar_t>::min()
                     : value;
        });
  });
}

// Divides gamma numbers by the sum of their row, which is the last dimension. `gamma`
// is of float64 and contiguous as `out`; the results are neither 0 nor 1.
void divide_rows(const at::Tensor& gamma, at::Tensor& out) {
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "_sample_dirichlet", [&] {
    const int64_t width = out.dim() == 0 ? 1 : out.size(-1);
    const auto* row = gamma.const_data_ptr<double>();
    auto* value = static_cast<scalar_t*>(out.mutable_data_ptr());
    const scalar_t largest = std::nextafter(scalar_t{1}, scalar_t{0});
    for (int64_t i = 0; i < gamma.numel(); i += width, row += width) {
      double sum = 0;
      for (int64_t j = 0; j < width; ++j) {
        sum += row[j];
      }
      for (int64_t j = 0; j < width; ++j) {
        *value++ = std::min(largest, std::max(std::numeric_limits<scalar_t>::min(),
                                              static_cast<scalar_t>(row[j] / sum)));
      }
    }
  });
}

// -- launches --

// The counters to reserve for a sampler, whatever the number of elements. An element
// usually takes a few dozen blocks, and in practice never reaches this limit.
constexpr uint64_t kSamplerBlocks = 1024;

PhiloxKernelState reserve_for(const at::Tensor& out,
                              const std::optional<at::Generator>& generator) {
  return reserve(generator, out.device().index(), kSamplerBlocks);
}

void poisson(const at::Tensor& rate, const std::optional<at::Generator>& generator,
             at::Tensor& out) {
  TORCH_CHECK(all_elements(rate, ValueRange::NotNegative),
              "invalid Poisson rate, expected rate to be non-negative");
  launch("poisson", draw_poisson, rate, reserve_for(out, generator), out);
}

void binomial(const at::Tensor& count, const at::Tensor& probability,
              const std::optional<at::Generator>& generator, at::Tensor& out) {
  launch("binomial", draw_binomial, count.expand(out.sizes()),
         probability.expand(out.sizes()), reserve_for(out, generator), out);
}

void standard_gamma(const at::Tensor& alpha,
                    const std::optional<at::Generator>& generator, at::Tensor& out) {
  launch("_standard_gamma", draw_gamma, alpha, reserve_for(out, generator), out);
}

// Gamma numbers of each row, divided by their sum. They are drawn in double precision:
// small ones must not vanish.
void dirichlet(const at::Tensor& alpha, const std::optional<at::Generator>& generator,
               at::Tensor& out) {
  at::Tensor gamma = at::empty(out.sizes(), out.options().dtype(at::kDouble));
  standard_gamma(alpha.to(at::kDouble), generator, gamma);
  launch("_sample_dirichlet", divide_rows, gamma, out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured_without_out<op::poisson, Poisson>(m, poisson);
  structured_without_out<op::binomial, Binomial>(m, binomial);
  structured_without_out<op::_standard_gamma, StandardGamma>(m, standard_gamma);
  structured_without_out<op::_sample_dirichlet, Dirichlet>(m, dirichlet);
}

}  // namespace openreg::cpu
