// Runs every operator without a kernel on the CPU; see docs/start/first-operators.md.
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <torch/library.h>

#include <mutex>

#include "csrc/aten/ops/Fallback.h"
#include "csrc/aten/ops/NativeFunctions.h"

namespace starter {
namespace {

// LITERALINCLUDE START: STARTER_FALLBACK
std::mutex mutex;
auto& counts = *new c10::Dict<std::string, int64_t>;  // threads may still count at exit

Maybe<c10::Device> device_of(c10::ArrayRef<c10::IValue> arguments) {
  for (const c10::IValue& argument : arguments) {
    std::vector<Tensor> tensors;
    if (argument.isTensor()) {
      tensors = {argument.toTensor()};
    } else if (argument.isTensorList()) {
      tensors = argument.toTensorVector();
    }
    for (const Tensor& tensor : tensors) {
      if (tensor.defined() && tensor.is_privateuseone()) {
        return tensor.device();
      }
    }
  }
  return std::nullopt;
}
// LITERALINCLUDE END: STARTER_FALLBACK

}  // namespace

// LITERALINCLUDE START: STARTER_FALLBACK_CALL
void cpu_fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  {
    const std::lock_guard lock(mutex);
    const std::string name = c10::toString(op.operator_name());
    counts.insert_or_assign(name, counts.contains(name) ? counts.at(name) + 1 : 1);
  }
  const auto device =
      device_of(torch::jit::last(*stack, op.schema().arguments().size()));
  at::native::cpu_fallback(op, stack, /*error_on_views=*/true);
  // Torch reads the device of the first tensor, which in `2 // x` is the 2, on the CPU.
  const auto& returns = op.schema().returns();
  for (size_t i = 0; device.has_value() && i < returns.size(); ++i) {
    c10::IValue& result = torch::jit::peek(*stack, i, returns.size());
    const bool made = result.isTensor() && returns[i].alias_info() == nullptr;
    if (made && result.toTensor().defined() && result.toTensor().is_cpu()) {
      result = result.toTensor().to(*device);
    }
  }
}

namespace {

// VENDOR: whether operators without a kernel run on the CPU or raise an error
TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&cpu_fallback>());
}
// LITERALINCLUDE END: STARTER_FALLBACK_CALL

// LITERALINCLUDE START: STARTER_FALLBACK_COUNTS
// How often each operator ran on the CPU: torch.ops.starter.fallback_counts().
TORCH_LIBRARY(starter, m) {
  m.def("fallback_counts() -> Dict(str, int)", [] {
    const std::lock_guard lock(mutex);
    return counts.copy();
  });
}
// LITERALINCLUDE END: STARTER_FALLBACK_COUNTS

// LITERALINCLUDE START: STARTER_CONVOLUTION
// Torch's own kernels for these two raise, so a call of them never falls back.
// VENDOR: the convolution of your device; this one runs on the CPU
Tensor convolution(const Tensor& input, const Tensor& weight, const Maybe<Tensor>& bias,
                   IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                   bool transposed, IntArrayRef output_padding, int64_t groups) {
  const bool has_bias = bias.has_value() && bias->defined();
  return at::convolution(input.cpu(), weight.cpu(), has_bias ? bias->cpu() : Tensor(),
                         stride, padding, dilation, transposed, output_padding, groups)
      .to(input.device());
}
// LITERALINCLUDE END: STARTER_CONVOLUTION

// LITERALINCLUDE START: STARTER_CONVOLUTION_BACKWARD
std::tuple<Tensor, Tensor, Tensor> convolution_backward(
    const Tensor& gradient, const Tensor& input, const Tensor& weight,
    IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
    IntArrayRef output_padding, int64_t groups, std::array<bool, 3> mask) {
  const int64_t channels = transposed ? weight.size(1) * groups : weight.size(0);
  auto [for_input, for_weight, for_bias] = at::convolution_backward(
      gradient.cpu(), input.cpu(), weight.cpu(), IntArrayRef(channels), stride, padding,
      dilation, transposed, output_padding, groups, mask);
  const auto back = [&](const Tensor& t) {
    return t.defined() ? t.to(input.device()) : t;
  };
  return {back(for_input), back(for_weight), back(for_bias)};
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("convolution_overrideable", convolution);
  m.impl("convolution_backward_overrideable", convolution_backward);
}
// LITERALINCLUDE END: STARTER_CONVOLUTION_BACKWARD

}  // namespace
}  // namespace starter
