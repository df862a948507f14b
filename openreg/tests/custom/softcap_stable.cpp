// softcap on torch's stable ABI; see docs/operators/custom-stable.md.
#include <openreg.h>
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/ScalarType.h>
#include <torch/headeronly/util/Exception.h>

#include <cmath>
#include <memory>

namespace {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

// LITERALINCLUDE START: STABLE_KERNEL
// What the kernel gets: addresses and numbers.
struct Arguments {
  const void* x;
  const void* bias;
  void* y;
  int64_t count, features;
  float cap;
};

orError_t kernel(void* args) {
  const auto& a = *static_cast<Arguments*>(args);
  const auto* x = static_cast<const float*>(orKernelAddress(a.x));  // (1)
  const auto* bias = static_cast<const float*>(orKernelAddress(a.bias));
  auto* y = static_cast<float*>(orKernelAddress(a.y));
  for (int64_t i = 0; i < a.count; ++i) {
    y[i] = a.cap * std::tanh((x[i] + bias[i % a.features]) / a.cap);
  }
  return orSuccess;
}
// LITERALINCLUDE END: STABLE_KERNEL

// LITERALINCLUDE START: STABLE_HOST
Tensor softcap(Tensor x, Tensor bias, double cap) {
  STD_TORCH_CHECK(x.device() == bias.device(),
                  "softcap: x and bias are on two devices");
  STD_TORCH_CHECK(
      x.scalar_type() == ScalarType::Float && bias.scalar_type() == ScalarType::Float,
      "softcap: this kernel computes in float32 only");
  STD_TORCH_CHECK(x.dim() > 0 && bias.dim() == 1 && x.size(-1) == bias.size(0),
                  "softcap: bias needs one number for each feature of x");
  STD_TORCH_CHECK(cap > 0, "softcap: cap must be positive, but is ", cap);
  const Tensor from = torch::stable::contiguous(x);
  const Tensor added = torch::stable::contiguous(bias);
  Tensor y = torch::stable::empty_like(from);
  if (y.numel() == 0) {
    return y;
  }
  // LITERALINCLUDE END: STABLE_HOST
  // LITERALINCLUDE START: STABLE_LAUNCH
  auto args = std::make_unique<Arguments>(
      Arguments{from.const_data_ptr(), added.const_data_ptr(), y.mutable_data_ptr(),
                y.numel(), bias.numel(), static_cast<float>(cap)});
  const torch::stable::accelerator::DeviceGuard guard(x.get_device_index());
  const auto stream =
      torch::stable::accelerator::getCurrentStream(x.get_device_index());  // (1)
  const orError_t error = orLaunchKernel(
      "softcap", kernel, args.get(),
      [](void* args) { delete static_cast<Arguments*>(args); },
      static_cast<orStream_t>(stream.nativeHandle()));
  STD_TORCH_CHECK(error == orSuccess, "softcap: ", orGetErrorDetail());
  args.release();  // (2)
  return y;
}
// LITERALINCLUDE END: STABLE_LAUNCH

// LITERALINCLUDE START: STABLE_META
Tensor softcap_meta(Tensor x, Tensor, double) {
  return torch::stable::empty_like(torch::stable::contiguous(x));
}
// LITERALINCLUDE END: STABLE_META

}  // namespace

// LITERALINCLUDE START: STABLE_REGISTER
STABLE_TORCH_LIBRARY(softcap_stable, m) {
  m.def("softcap(Tensor x, Tensor bias, float cap) -> Tensor");
}

STABLE_TORCH_LIBRARY_IMPL(softcap_stable, PrivateUse1, m) {
  m.impl("softcap", TORCH_BOX(&softcap));
}

STABLE_TORCH_LIBRARY_IMPL(softcap_stable, Meta, m) {
  m.impl("softcap", TORCH_BOX(&softcap_meta));
}
// LITERALINCLUDE END: STABLE_REGISTER
