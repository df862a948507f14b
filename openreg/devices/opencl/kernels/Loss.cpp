// Losses that compare two tensors and reduce; see docs/opencl/kernels.md.
#include "csrc/aten/meta/Loss.h"

#include <ATen/Operators.h>
#include <ATen/core/Reduction.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/sum.h>

#include <initializer_list>

#include "csrc/aten/common/TensorArguments.h"
#include "csrc/kernels/opencl/Fallback.h"
#include "csrc/kernels/opencl/Iterator.h"

namespace ocl::opencl::loss {
namespace {

namespace op = at::_ops;
using at::Tensor;

// A formula for each pair of elements, into the output or into a tensor to reduce.
bool compute(const Formula& formula, std::initializer_list<at::Scalar> numbers,
             std::initializer_list<Tensor> inputs, int64_t reduction, Tensor& out) {
  at::TensorIteratorConfig config;
  config.set_check_mem_overlap(false)
      .promote_inputs_to_common_dtype(true)
      .cast_common_dtype_to_outputs(true)
      .add_owned_output(reduction == at::Reduction::None ? out : Tensor());
  for (const Tensor& input : inputs) {
    config.add_owned_const_input(input);
  }
  at::TensorIterator iterator = config.build();
  if (iterator.numel() > 0 && !pointwise(iterator, formula, numbers)) {
    return false;
  }
  const auto all = at::OptionalIntArrayRef(at::IntArrayRef());
  if (reduction == at::Reduction::Mean) {
    at::mean_out(out, iterator.output(), all, /*keepdim=*/false, out.scalar_type());
  } else if (reduction == at::Reduction::Sum) {
    at::sum_out(out, iterator.output(), all, /*keepdim=*/false, out.scalar_type());
  }
  return true;
}

bool mse(const Tensor& self, const Tensor& target, int64_t reduction, Tensor& out) {
  return compute({"(a - b) * (a - b)"}, {}, {self, target}, reduction, out);
}

bool smooth_l1(const Tensor& self, const Tensor& target, int64_t reduction, double beta,
               Tensor& out) {
  return compute({"fabs(a - b) < p ? (Value)0.5 * (a - b) * (a - b) / p"
                  " : fabs(a - b) - (Value)0.5 * p"},
                 {beta}, {self, target}, reduction, out);
}

bool huber(const Tensor& self, const Tensor& target, int64_t reduction, double delta,
           Tensor& out) {
  return compute({"fabs(a - b) <= p ? (Value)0.5 * (a - b) * (a - b)"
                  " : p * (fabs(a - b) - (Value)0.5 * p)"},
                 {delta}, {self, target}, reduction, out);
}

// The CPU raises for an input that is no probability; here it makes a NaN.
bool binary_cross_entropy(const Tensor& self, const Tensor& target,
                          const std::optional<Tensor>& weight, int64_t reduction,
                          Tensor& out) {
  if (is_given(weight)) {
    return compute({"c * ((b - 1) * at_least(log1p(-a), -100)"
                    " - b * at_least(log(a), -100))"},
                   {}, {self, target, *weight}, reduction, out);
  }
  return compute({"(b - 1) * at_least(log1p(-a), -100) - b * at_least(log(a), -100)"},
                 {}, {self, target}, reduction, out);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured_or_fall_back<op::mse_loss, op::mse_loss_out, MseLoss>(m, mse);
  structured_or_fall_back<op::smooth_l1_loss, op::smooth_l1_loss_out, SmoothL1Loss>(
      m, smooth_l1);
  structured_or_fall_back<op::huber_loss, op::huber_loss_out, HuberLoss>(m, huber);
  structured_or_fall_back<op::binary_cross_entropy, op::binary_cross_entropy_out,
                          BinaryCrossEntropy>(m, binary_cross_entropy);
}

}  // namespace
}  // namespace ocl::opencl::loss
