// Kernels of layer, group and batch normalization; see
// docs/operators/meta-functions.md.
#include "csrc/aten/meta/Normalization.h"

#include <ATen/Operators.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <ATen/ops/native_group_norm.h>
#include <ATen/ops/native_group_norm_backward.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/native_layer_norm_backward.h>

#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {
namespace {

namespace op = at::_ops;
using at::Tensor;
using OptionalTensor = std::optional<at::Tensor>;

// The CPU's kernel takes a contiguous input.
void group_norm(const Tensor& input, const OptionalTensor& weight,
                const OptionalTensor& bias, int64_t N, int64_t C, int64_t HxW,
                int64_t group, double eps, Tensor& out, Tensor& mean, Tensor& rstd) {
  const Tensor x = input.contiguous(input.suggest_memory_format());
  cpu::call("native_group_norm", at::native_group_norm_outf, x, weight, bias, N, C, HxW,
            group, eps, out, mean, rstd);
}

// Training writes to the running statistics, which the schema hides.
void batch_norm(const Tensor& input, const OptionalTensor& weight,
                const OptionalTensor& bias, const OptionalTensor& running_mean,
                const OptionalTensor& running_var, bool training, double momentum,
                double eps, Tensor& out, Tensor& mean, Tensor& invstd) {
  if (!training) {  // only reads them
    cpu::launch("native_batch_norm", cpu::out_variant<at::native_batch_norm>, input,
                weight, bias, running_mean, running_var, training, momentum, eps, out,
                mean, invstd);
    return;
  }
  cpu::launch(
      "native_batch_norm",
      [](const Tensor& x, const OptionalTensor& w, const OptionalTensor& b,
         Tensor& run_mean, Tensor& run_var, bool train, double factor, double epsilon,
         Tensor& y, Tensor& m, Tensor& i) {
        cpu::copy_results(
            at::native_batch_norm(x, w, b, run_mean, run_var, train, factor, epsilon),
            y, m, i);
      },
      input, weight, bias, or_undefined(running_mean), or_undefined(running_var),
      training, momentum, eps, out, mean, invstd);
}

void batch_norm_without_statistics(const Tensor& input, const OptionalTensor& weight,
                                   const OptionalTensor& bias, bool training,
                                   double momentum, double eps, Tensor& out,
                                   Tensor& mean, Tensor& invstd) {
  batch_norm(input, weight, bias, {}, {}, training, momentum, eps, out, mean, invstd);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu<op::native_layer_norm, op::native_layer_norm_out, LayerNorm,
              at::native_layer_norm_outf>(m);
  cpu::on_cpu_without_out<op::native_layer_norm_backward, LayerNormBackward,
                          cpu::out_variant<at::native_layer_norm_backward>>(m);
  structured_without_out<op::native_group_norm, GroupNorm>(m, group_norm);
  cpu::on_cpu_without_out<op::native_group_norm_backward, GroupNormBackward,
                          cpu::out_variant<at::native_group_norm_backward>>(m);
  structured<op::native_batch_norm, op::native_batch_norm_out, BatchNorm>(m,
                                                                          batch_norm);
  // The same, under the names whose schemas declare what is written.
  structured_without_out<op::_native_batch_norm_legit, BatchNorm>(m, batch_norm);
  structured_without_out<op::_native_batch_norm_legit_no_stats, BatchNorm>(
      m, batch_norm_without_statistics);
  cpu::on_cpu_without_out<op::native_batch_norm_backward, BatchNormBackward,
                          cpu::out_variant<at::native_batch_norm_backward>>(m);
}

}  // namespace openreg
