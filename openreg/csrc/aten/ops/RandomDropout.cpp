// Dropout and the random leaky ReLU; see docs/frontend/random.md.
#include <ATen/MemoryOverlap.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>

#include <cmath>

#include "csrc/aten/NativeFunctions.h"
#include "csrc/aten/kernels/RandomDropout.h"
#include "csrc/aten/launch/KernelTensorArg.h"
#include "csrc/aten/launch/Launch.h"
#include "csrc/aten/launch/OptionalTensor.h"
#include "csrc/aten/ops/RandomLaunch.h"
#include "csrc/runtime/random/OpenRegGenerator.h"

namespace openreg {
namespace {

// Throws unless dropout, whose part `name` is, has a kernel for the dtype of `tensor`.
void check_dropout_dtype(const char* name, const at::Tensor& tensor) {
  const at::ScalarType dtype = tensor.scalar_type();
  check_random_dtype(name, tensor,
                     is_random_floating(dtype) || at::isComplexType(dtype));
}

// Copies, with the strides of `input` where it is dense.
at::Tensor copy_of(const at::Tensor& input) {
  at::Tensor out = at::empty_like(input);
  out.copy_(input);
  return out;
}

}  // namespace

std::tuple<at::Tensor, at::Tensor> native_dropout(const at::Tensor& input, double p,
                                                  std::optional<bool> train) {
  at::Tensor mask = at::empty_like(input, input.options().dtype(at::kBool));
  if (!train.value_or(true)) {
    mask.fill_(true);
    return {copy_of(input), mask};
  }
  TORCH_CHECK(0 <= p && p <= 1,
              "dropout probability has to be between 0 and 1, but got ", p);
  at::Tensor out = at::empty_like(input);
  check_dropout_dtype("native_dropout", input);
  if (input.numel() > 0) {
    const auto from = KernelTensorArg::input(input);
    const KernelTensorArg to(out);
    const KernelTensorArg to_mask(mask);
    const PhiloxKernelState random =
        reserve(std::nullopt, input.device().index(), blocks_for(input.numel(), 1));
    launch("native_dropout", input.device(), [from, to, to_mask, random, p] {
      kernels::dropout(from.alias(), random.state(), p, to.alias(), to_mask.alias());
    });
  }
  return {out, mask};
}

at::Tensor native_dropout_backward(const at::Tensor& grad, const at::Tensor& mask,
                                   double scale) {
  check_same_device("native_dropout_backward", grad, mask);
  TORCH_CHECK(mask.scalar_type() == at::kBool,
              "openreg: native_dropout_backward expects a mask of dtype bool, but got ",
              mask.scalar_type());
  TORCH_CHECK(grad.sizes() == mask.sizes(),
              "openreg: native_dropout_backward expects a mask of shape ", grad.sizes(),
              ", but got ", mask.sizes());
  if (!grad.is_floating_point() && !grad.is_complex()) {
    return at::mul(grad, at::mul(mask.to(grad.scalar_type()), scale));  // floats
  }
  at::Tensor out = at::empty_like(grad);
  check_dropout_dtype("native_dropout_backward", grad);
  if (grad.numel() > 0) {
    launch("native_dropout_backward", grad.device(),
           [from = KernelTensorArg::input(grad), in_mask = KernelTensorArg::input(mask),
            to = KernelTensorArg(out), scale] {
             kernels::dropout_backward(from.alias(), in_mask.alias(), scale,
                                       to.alias());
           });
  }
  return out;
}

at::Tensor& rrelu_with_noise_out(const at::Tensor& self, at::Tensor& noise,
                                 const at::Scalar& lower, const at::Scalar& upper,
                                 bool training, OptionalGenerator generator,
                                 at::Tensor& out) {
  check_same_device("rrelu_with_noise", self, noise, out);
  TORCH_CHECK(self.sizes() == noise.sizes(),
              "noise tensor shape must match self tensor shape. Got self.shape = ",
              self.sizes(), " noise.shape = ", noise.sizes());
  TORCH_CHECK(noise.scalar_type() == self.scalar_type(), "expected scalar type ",
              self.scalar_type(), " but found ", noise.scalar_type());
  TORCH_CHECK(out.scalar_type() == self.scalar_type(), "expected scalar type ",
              self.scalar_type(), " but found ", out.scalar_type());
  const auto low = lower.to<double>();
  const auto high = upper.to<double>();
  TORCH_CHECK(low <= high && std::isfinite(high - low),
              "Expected from <= to to be true, but got false: rrelu expects finite "
              "bounds, lower <= upper, but got lower=",
              low, " and upper=", high);
  at::native::resize_output(out, self.sizes());
  at::assert_no_internal_overlap(out);
  at::assert_no_partial_overlap(out, self);
  check_random_dtype("rrelu_with_noise", self, is_random_floating(self.scalar_type()));
  if (self.numel() == 0) {
    return out;
  }
  const KernelTensorArg to(out);  // first: it may be `self`
  const auto from = KernelTensorArg::input(self);
  const KernelTensorArg slopes(noise);
  const int64_t words = words_for(self.scalar_type());
  const PhiloxKernelState random = training ? reserve(generator, self.device().index(),
                                                      blocks_for(self.numel(), words))
                                            : PhiloxKernelState({});
  launch("rrelu_with_noise", self.device(),
         [from, to, slopes, random, training, low, high] {
           kernels::rrelu(from.alias(), random.state(), low, high, training,
                          slopes.alias(), to.alias());
         });
  return out;
}

at::Tensor rrelu_with_noise(const at::Tensor& self, at::Tensor& noise,
                            const at::Scalar& lower, const at::Scalar& upper,
                            bool training, OptionalGenerator generator) {
  at::Tensor out = at::empty_like(self);
  return rrelu_with_noise_out(self, noise, lower, upper, training, generator, out);
}

at::Tensor& rrelu_with_noise_(at::Tensor& self, at::Tensor& noise,
                              const at::Scalar& lower, const at::Scalar& upper,
                              bool training, OptionalGenerator generator) {
  return rrelu_with_noise_out(self, noise, lower, upper, training, generator, self);
}

}  // namespace openreg
