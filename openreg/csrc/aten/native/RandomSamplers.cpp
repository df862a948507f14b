// Distributions that try until a number fits; see docs/frontend/random.md.
#include <ATen/Dispatch.h>
#include <ATen/ExpandUtils.h>
#include <ATen/native/Distributions.h>
#include <ATen/ops/empty_like.h>

#include <cmath>

#include "csrc/aten/native/DeviceCheck.h"
#include "csrc/aten/native/Random.h"
#include "csrc/aten/native/RandomKernel.h"

namespace openreg {
namespace {

// LITERALINCLUDE START: ELEMENT_STREAM
// Nobody knows how many random numbers a rejection takes. So each element has counters
// of its own: the low half counts from the offset on, the high half is the element.
// Samplers take a few dozen blocks; that one takes kBlocks will not happen.
class ElementStream {
 public:
  static constexpr uint64_t kBlocks = 1024;

  ElementStream(PhiloxState state, int64_t element)
      : state_(state), element_(static_cast<uint64_t>(element) + 1) {}

  double operator()() {  // in [0, 1)
    if (next_ == 4) {
      words_ = philox(state_.seed, state_.offset++, element_);
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

// Enqueues `out[i] = sample(a[i], b[i], stream of i)`; all have dtype T.
template <class T, class Sample>
void launch_samples(const char* name, const at::Tensor& out, const at::Tensor& a,
                    const at::Tensor& b, const OptionalGenerator& generator,
                    Sample sample) {
  if (out.numel() == 0) {
    return;
  }
  const KernelTensor to(out);
  const auto from_a = KernelTensor::input(a);
  const auto from_b = KernelTensor::input(b);
  const PhiloxSource random =
      reserve(generator, out.device().index(), ElementStream::kBlocks);
  launch(name, out.device(), [to, from_a, from_b, random, sample] {
    const PhiloxState state = random.state();
    const Elements<T> result(to.on_device());
    const Elements<T> first(from_a.on_device());
    const Elements<T> second(from_b.on_device());
    at::parallel_for(0, result.count(), 1024, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        ElementStream stream(state, i);
        T x;
        T y;
        first.read(i, 1, &x);
        second.read(i, 1, &y);
        const T value = sample(x, y, stream);
        result.write(i, 1, &value);
      }
    });
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

}  // namespace

at::Tensor poisson(const at::Tensor& rate, OptionalGenerator generator) {
  const at::Tensor out = at::empty_like(rate, at::MemoryFormat::Contiguous);
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, rate.scalar_type(), "poisson", [&] {
        TORCH_CHECK(all_elements<scalar_t>(rate, [](scalar_t x) { return x >= 0; }),
                    "invalid Poisson rate, expected rate to be non-negative");
        launch_samples<scalar_t>(
            "poisson", out, rate, rate, generator,
            [](scalar_t x, scalar_t, ElementStream& stream) {
              return static_cast<scalar_t>(sample_poisson(x, stream));
            });
      });
  return out;
}

at::Tensor binomial(const at::Tensor& count, const at::Tensor& probability,
                    OptionalGenerator generator) {
  TORCH_CHECK_VALUE(at::isFloatingType(count.scalar_type()),
                    "binomial only supports floating-point dtypes for count, got: ",
                    count.scalar_type());
  TORCH_CHECK_VALUE(at::isFloatingType(probability.scalar_type()),
                    "binomial only supports floating-point dtypes for prob, got: ",
                    probability.scalar_type());
  TORCH_CHECK(count.scalar_type() == probability.scalar_type(), "Found dtype ",
              probability.scalar_type(), " but expected ", count.scalar_type());
  const auto sizes = at::infer_size(count.sizes(), probability.sizes());
  const at::Tensor out =
      openreg::empty(sizes, count.scalar_type(), at::kStrided, count.device(), {}, {});
  AT_DISPATCH_FLOATING_TYPES(count.scalar_type(), "binomial", [&] {
    launch_samples<scalar_t>(
        "binomial", out, count.expand(sizes), probability.expand(sizes), generator,
        [](scalar_t n, scalar_t p, ElementStream& stream) {
          if (!std::isfinite(n)) {
            return std::numeric_limits<scalar_t>::quiet_NaN();  // it would never end
          }
          BaseSampler<double, ElementStream&> uniforms(stream);
          return sample_binomial<scalar_t, double, ElementStream&>(n, p, uniforms);
        });
  });
  return out;
}

at::Tensor standard_gamma(const at::Tensor& alpha, OptionalGenerator generator) {
  const at::Tensor out = at::empty_like(alpha, at::MemoryFormat::Contiguous);
  AT_DISPATCH_FLOATING_TYPES(alpha.scalar_type(), "_standard_gamma", [&] {
    launch_samples<scalar_t>(
        "_standard_gamma", out, alpha, alpha, generator,
        [](scalar_t a, scalar_t, ElementStream& stream) {
          const auto value = static_cast<scalar_t>(sample_standard_gamma(a, stream));
          return value < std::numeric_limits<scalar_t>::min()
                     ? std::numeric_limits<scalar_t>::min()
                     : value;
        });
  });
  return out;
}

// Gamma numbers of each row, divided by their sum. They are drawn in double precision:
// small ones must not vanish.
at::Tensor sample_dirichlet(const at::Tensor& alpha, OptionalGenerator generator) {
  const at::Tensor out = at::empty_like(alpha, at::MemoryFormat::Contiguous);
  AT_DISPATCH_FLOATING_TYPES(alpha.scalar_type(), "_sample_dirichlet", [&] {
    const at::Tensor gamma = standard_gamma(alpha.to(at::kDouble), generator);
    const int64_t width = alpha.dim() == 0 ? 1 : alpha.size(-1);
    if (out.numel() == 0) {
      return;
    }
    launch("_sample_dirichlet", out.device(),
           [in = KernelTensor::input(gamma), to = KernelTensor(out), width] {
             const at::Tensor from = in.on_device();
             const auto* row = from.const_data_ptr<double>();
             auto* value = static_cast<scalar_t*>(to.on_device().mutable_data_ptr());
             const scalar_t largest = std::nextafter(scalar_t{1}, scalar_t{0});
             for (int64_t i = 0; i < from.numel(); i += width, row += width) {
               double sum = 0;
               for (int64_t j = 0; j < width; ++j) {
                 sum += row[j];
               }
               for (int64_t j = 0; j < width; ++j) {
                 *value++ =
                     std::min(largest, std::max(std::numeric_limits<scalar_t>::min(),
                                                static_cast<scalar_t>(row[j] / sum)));
               }
             }
           });
  });
  return out;
}

}  // namespace openreg
