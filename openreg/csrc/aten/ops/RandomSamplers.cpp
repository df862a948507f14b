// Distributions that try until a number fits; see docs/frontend/random.md.
#include <ATen/ExpandUtils.h>
#include <ATen/ops/empty_like.h>

#include <type_traits>

#include "csrc/aten/NativeFunctions.h"
#include "csrc/aten/kernels/RandomSamplers.h"
#include "csrc/aten/launch/KernelTensorArg.h"
#include "csrc/aten/launch/Launch.h"
#include "csrc/aten/launch/OptionalTensor.h"
#include "csrc/aten/ops/RandomLaunch.h"
#include "csrc/aten/ops/ValueCheck.h"
#include "csrc/runtime/random/OpenRegGenerator.h"

namespace openreg {
namespace {

// Enqueues `kernel`, which fills `out` from `inputs`, for tensors with elements.
template <class... Inputs>
void launch_sampler(const char* name, const at::Tensor& out,
                    const OptionalGenerator& generator,
                    void (*kernel)(const at::Tensor&, PhiloxState, Inputs...),
                    std::type_identity_t<Inputs>... inputs) {
  if (out.numel() == 0) {
    return;
  }
  const KernelTensorArg to(out);
  launch(name, out.device(),
         [to, ... from = KernelTensorArg::input(inputs), kernel,
          random = reserve(generator, out.device().index(), kernels::kSamplerBlocks)] {
           kernel(to.alias(), random.state(), from.alias()...);
         });
}

bool is_float_or_double(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kDouble;
}

}  // namespace

at::Tensor poisson(const at::Tensor& rate, OptionalGenerator generator) {
  const at::Tensor out = at::empty_like(rate, at::MemoryFormat::Contiguous);
  check_random_dtype("poisson", rate, is_random_floating(rate.scalar_type()));
  TORCH_CHECK(all_elements(rate, kernels::ValueRange::NotNegative),
              "invalid Poisson rate, expected rate to be non-negative");
  launch_sampler("poisson", out, generator, kernels::poisson, rate);
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
  check_same_device("binomial", count, probability);
  const auto sizes = at::infer_size(count.sizes(), probability.sizes());
  const at::Tensor out =
      openreg::empty(sizes, count.scalar_type(), at::kStrided, count.device(), {}, {});
  check_random_dtype("binomial", count, is_float_or_double(count));
  launch_sampler("binomial", out, generator, kernels::binomial, count.expand(sizes),
                 probability.expand(sizes));
  return out;
}

at::Tensor standard_gamma(const at::Tensor& alpha, OptionalGenerator generator) {
  const at::Tensor out = at::empty_like(alpha, at::MemoryFormat::Contiguous);
  check_random_dtype("_standard_gamma", alpha, is_float_or_double(alpha));
  launch_sampler("_standard_gamma", out, generator, kernels::standard_gamma, alpha);
  return out;
}

// Gamma numbers of each row, divided by their sum. They are drawn in double precision:
// small ones must not vanish.
at::Tensor sample_dirichlet(const at::Tensor& alpha, OptionalGenerator generator) {
  const at::Tensor out = at::empty_like(alpha, at::MemoryFormat::Contiguous);
  check_random_dtype("_sample_dirichlet", alpha, is_float_or_double(alpha));
  const at::Tensor gamma = standard_gamma(alpha.to(at::kDouble), generator);
  if (out.numel() > 0) {
    launch("_sample_dirichlet", out.device(),
           [in = KernelTensorArg::input(gamma), to = KernelTensorArg(out)] {
             kernels::dirichlet_of_gamma(in.alias(), to.alias());
           });
  }
  return out;
}

}  // namespace openreg
