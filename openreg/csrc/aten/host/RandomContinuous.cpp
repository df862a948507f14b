// Uniform, normal and what follows from them; see docs/frontend/random.md.
#include <ATen/MemoryOverlap.h>
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/DistributionTemplates.h>
#include <torch/library.h>

#include <optional>
#include <type_traits>

#include "csrc/aten/host/RandomFill.h"
#include "csrc/kernels/RandomContinuous.h"

namespace openreg {
namespace {

using OptionalGenerator = std::optional<at::Generator>;

namespace templates = at::native::templates;

// fill_random() for the kernels that take `words_for` the dtype of `self`.
template <class... Args>
void fill_floats(const char* name, const at::Tensor& self,
                 const OptionalGenerator& generator,
                 void (*kernel)(const at::Tensor&, PhiloxKernelState, Args...),
                 std::type_identity_t<Args>... args) {
  check_random_dtype(name, self, is_random_floating(self.scalar_type()));
  fill_random(self, generator, words_for(self.scalar_type()), kernel, args...);
}

template <class RNG>
struct Uniform {
  void operator()(at::TensorIteratorBase& iter, double from, double to,
                  const OptionalGenerator& generator) {
    fill_floats("uniform_", iter.tensor(0), generator, kernels::uniform, from, to);
  }
};

template <class RNG>
struct Normal {
  void operator()(const at::Tensor& self, double mean, double std,
                  const OptionalGenerator& generator) {
    fill_floats("normal_", self, generator, kernels::normal, mean, std);
  }
};

template <class RNG>
struct LogNormal {
  void operator()(at::TensorIteratorBase& iter, double mean, double std,
                  const OptionalGenerator& generator) {
    fill_floats("log_normal_", iter.tensor(0), generator, kernels::log_normal, mean,
                std);
  }
};

template <class RNG>
struct Exponential {
  void operator()(at::TensorIteratorBase& iter, double lambda,
                  const OptionalGenerator& generator) {
    const at::Tensor& self = iter.tensor(0);
    TORCH_CHECK(at::isFloatingType(self.scalar_type()),
                "Exponential distribution is a continuous probability distribution. "
                "dtype must be a floating point but you specified ",
                self.scalar_type());
    fill_floats("exponential_", self, generator, kernels::exponential, lambda);
  }
};

template <class RNG>
struct Cauchy {
  void operator()(at::TensorIteratorBase& iter, double median, double sigma,
                  const OptionalGenerator& generator) {
    const at::Tensor& self = iter.tensor(0);
    check_random_dtype("cauchy_", self, is_random_floating(self.scalar_type()));
    fill_random(self, generator, /*words=*/2, kernels::cauchy, median, sigma);
  }
};

// LITERALINCLUDE START: UNIFORM_CHECKED
at::Tensor& uniform_(at::Tensor& self, double from, double to,
                     OptionalGenerator generator) {
  return templates::uniform_impl_<Uniform, OpenRegGeneratorImpl>(self, from, to,
                                                                 generator);
}
// LITERALINCLUDE END: UNIFORM_CHECKED

at::Tensor& normal_(at::Tensor& self, double mean, double std,
                    OptionalGenerator generator) {
  at::assert_no_internal_overlap(self);
  return templates::normal_impl_<Normal, OpenRegGeneratorImpl>(self, mean, std,
                                                               generator);
}

at::Tensor& log_normal_(at::Tensor& self, double mean, double std,
                        OptionalGenerator generator) {
  return templates::log_normal_impl_<LogNormal, OpenRegGeneratorImpl>(self, mean, std,
                                                                      generator);
}

at::Tensor& exponential_(at::Tensor& self, double lambda, OptionalGenerator generator) {
  return templates::exponential_impl_<Exponential, OpenRegGeneratorImpl>(self, lambda,
                                                                         generator);
}

at::Tensor& cauchy_(at::Tensor& self, double median, double sigma,
                    OptionalGenerator generator) {
  return templates::cauchy_impl_<Cauchy, OpenRegGeneratorImpl>(self, median, sigma,
                                                               generator);
}

// Mean, std or both are tensors.
at::Tensor normal_tensor_float(const at::Tensor& mean, double std,
                               OptionalGenerator generator) {
  return templates::normal_impl<Normal, OpenRegGeneratorImpl>(mean, std, generator);
}

at::Tensor normal_float_tensor(double mean, const at::Tensor& std,
                               OptionalGenerator generator) {
  return templates::normal_impl<Normal, OpenRegGeneratorImpl>(mean, std, generator);
}

at::Tensor normal_tensor_tensor(const at::Tensor& mean, const at::Tensor& std,
                                OptionalGenerator generator) {
  return templates::normal_impl<Normal, OpenRegGeneratorImpl>(mean, std, generator);
}

at::Tensor& normal_tensor_float_out(const at::Tensor& mean, double std,
                                    OptionalGenerator generator, at::Tensor& out) {
  return templates::normal_out_impl<Normal, OpenRegGeneratorImpl>(out, mean, std,
                                                                  generator);
}

at::Tensor& normal_float_tensor_out(double mean, const at::Tensor& std,
                                    OptionalGenerator generator, at::Tensor& out) {
  return templates::normal_out_impl<Normal, OpenRegGeneratorImpl>(out, mean, std,
                                                                  generator);
}

at::Tensor& normal_tensor_tensor_out(const at::Tensor& mean, const at::Tensor& std,
                                     OptionalGenerator generator, at::Tensor& out) {
  return templates::normal_out_impl<Normal, OpenRegGeneratorImpl>(out, mean, std,
                                                                  generator);
}

// LITERALINCLUDE START: RANDOM
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("uniform_", uniform_);
  m.impl("normal_", normal_);
  m.impl("log_normal_", log_normal_);
  m.impl("exponential_", exponential_);
  m.impl("cauchy_", cauchy_);
  // Take a parameter for each element.
  m.impl("normal.Tensor_float", normal_tensor_float);
  m.impl("normal.float_Tensor", normal_float_tensor);
  m.impl("normal.Tensor_Tensor", normal_tensor_tensor);
  m.impl("normal.Tensor_float_out", normal_tensor_float_out);
  m.impl("normal.float_Tensor_out", normal_float_tensor_out);
  m.impl("normal.Tensor_Tensor_out", normal_tensor_tensor_out);
}
// LITERALINCLUDE END: RANDOM

}  // namespace
}  // namespace openreg
