// Dropout; see docs/opencl/kernels.md.
#include "csrc/aten/meta/RandomDropout.h"

#include <ATen/ops/native_dropout_backward_ops.h>
#include <ATen/ops/native_dropout_ops.h>

#include <cmath>

#include "csrc/kernels/RandomFill.h"
#include "csrc/kernels/opencl/Fallback.h"
#include "csrc/runtime/random/OclGenerator.h"
#include "csrc/runtime/random/Philox.h"

namespace ocl::opencl {
namespace {

namespace op = at::_ops;
using at::Tensor;

constexpr const char* kDropout = R"(
#define C COMPUTE(T)

kernel void dropout(global const void* in, global void* out, global uchar* mask,
                    Random random, global const ulong* of_graph, ulong kept, C scale,
                    Placement placement) {
  FOR_EACH_DRAW(
      const bool keeps = words[0] < kept;
      const C factor = keeps ? scale : (C)0;
      STORE(T, out, places.at[1], LOAD(T, in, places.at[0]) * factor);
      mask[places.at[2]] = keeps;)
}

kernel void dropout_backward(global const void* grad, global void* out,
                             global const uchar* mask, C scale, Placement placement) {
  const Places places = places_of(&placement, get_global_id(0));
  const C factor = mask[places.at[2]] ? scale : (C)0;
  STORE(T, out, places.at[1], LOAD(T, grad, places.at[0]) * factor);
}
)";

const Source& dropout_source() {
  static const auto* const text =
      new std::string(join({kPlacement, kPhilox, kDraws, kDropout}));
  static const Source only{text->c_str()};
  return only;
}

std::string dropout_options(const Tensor& tensor) {
  return define("T", tensor.scalar_type()) + "-DWORDS=1 ";
}

// In training, sets elements to zero with probability `p`, and divides the others by
// 1 - p; `mask` says which were kept. An element takes one random word.
bool dropout(const Tensor& input, double p, std::optional<bool> train,
             const Tensor& out, const Tensor& mask) {
  if (!train.value_or(true)) {
    mask.fill_(true);
    out.copy_(input);
    return true;
  }
  const auto placement = placement_of(input, out, mask);
  if (!placement || !supports(input.scalar_type())) {
    return false;
  }
  const PhiloxKernelState random =
      reserve(std::nullopt, input.device().index(), blocks_for(input.numel(), 1));
  launch(dropout_source(), "dropout", dropout_options(input), blocks(*placement, 1),
         input, writes(out), writes(mask), RandomStart(random), random.of_graph(),
         static_cast<uint64_t>(std::ldexp(1 - p, 32)),
         Number(p < 1 ? 1 / (1 - p) : 0, input.scalar_type()), *placement);
  return true;
}

// Multiplies `grad` by `scale` where `mask` is true; elsewhere writes zeros.
bool dropout_backward(const Tensor& grad, const Tensor& mask, double scale,
                      const Tensor& out) {
  const Tensor same = grad.to(out.scalar_type());
  const auto placement = placement_of(same, out, mask);
  if (!placement || !supports(out.scalar_type())) {
    return false;
  }
  launch(dropout_source(), "dropout_backward", dropout_options(out),
         Range({placement->count}), same, writes(out), mask,
         Number(scale, out.scalar_type()), *placement);
  return true;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured_or_fall_back_without_out<op::native_dropout, Dropout>(m, dropout);
  structured_or_fall_back_without_out<op::native_dropout_backward, DropoutBackward>(
      m, dropout_backward);
}

}  // namespace
}  // namespace ocl::opencl
