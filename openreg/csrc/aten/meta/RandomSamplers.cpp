// Meta functions of distributions with rejection sampling; see docs/frontend/random.md.
#include "csrc/aten/meta/RandomSamplers.h"

#include <ATen/ExpandUtils.h>

#include "csrc/aten/meta/RandomChecks.h"

namespace openreg {
namespace {

bool is_float_or_double(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kDouble;
}

}  // namespace

void Poisson::meta(const at::Tensor& rate, const OptionalGenerator&) {
  check_random_dtype("poisson", rate, is_random_floating(rate.scalar_type()));
  output(0, rate.sizes(), rate.options());
}

void Binomial::meta(const at::Tensor& count, const at::Tensor& probability,
                    const OptionalGenerator&) {
  TORCH_CHECK_VALUE(at::isFloatingType(count.scalar_type()),
                    "binomial only supports floating-point dtypes for count, got: ",
                    count.scalar_type());
  TORCH_CHECK_VALUE(at::isFloatingType(probability.scalar_type()),
                    "binomial only supports floating-point dtypes for prob, got: ",
                    probability.scalar_type());
  TORCH_CHECK(count.scalar_type() == probability.scalar_type(), "Found dtype ",
              probability.scalar_type(), " but expected ", count.scalar_type());
  check_random_dtype("binomial", count, is_float_or_double(count));
  output(0, at::infer_size(count.sizes(), probability.sizes()), count.options());
}

void StandardGamma::meta(const at::Tensor& alpha, const OptionalGenerator&) {
  check_random_dtype("_standard_gamma", alpha, is_float_or_double(alpha));
  output(0, alpha.sizes(), alpha.options());
}

void Dirichlet::meta(const at::Tensor& alpha, const OptionalGenerator&) {
  check_random_dtype("_sample_dirichlet", alpha, is_float_or_double(alpha));
  output(0, alpha.sizes(), alpha.options());
}

}  // namespace openreg
