// The loss of connectionist temporal classification; see docs/operators/structured.md.
#include "csrc/aten/NativeLayers.h"

#include <ATen/ops/_ctc_loss.h>
#include <ATen/ops/_ctc_loss_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <numeric>

#include "csrc/aten/kernels/CtcLoss.h"
#include "csrc/aten/launch/LaunchOut.h"
#include "csrc/aten/launch/OptionalTensor.h"
#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

int64_t longest(at::IntArrayRef lengths) {
  return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
}

// Whether the sizes fit: only these are known to the host.
bool fit(const at::Tensor& log_probs, const at::Tensor& targets,
         at::IntArrayRef input_lengths, at::IntArrayRef target_lengths, int64_t blank) {
  if (log_probs.dim() != 3 || (targets.dim() != 1 && targets.dim() != 2) ||
      log_probs.size(1) == 0) {
    return false;
  }
  const size_t batch = log_probs.size(1);
  const int64_t all =
      std::accumulate(target_lengths.begin(), target_lengths.end(), int64_t{0});
  const bool room = targets.dim() == 1 ? targets.size(0) == all
                                       : targets.size(0) == log_probs.size(1) &&
                                             targets.size(1) >= longest(target_lengths);
  return room && input_lengths.size() == batch && target_lengths.size() == batch &&
         blank >= 0 && blank < log_probs.size(2) && none_below(input_lengths, 1) &&
         none_below(target_lengths, 0) && longest(input_lengths) <= log_probs.size(0);
}

std::vector<int64_t> lengths_of(const at::Tensor& lengths) {
  TORCH_CHECK(at::isIntegralType(lengths.scalar_type(), /*includeBool=*/false),
              "input_lengths and target_lengths must be integral");
  const at::Tensor here = lengths.to(at::kCPU, at::kLong).contiguous();
  const int64_t* first = here.const_data_ptr<int64_t>();
  return {first, first + here.numel()};
}

}  // namespace

std::tuple<at::Tensor, at::Tensor> ctc_loss(const at::Tensor& log_probs,
                                            const at::Tensor& targets,
                                            at::IntArrayRef input_lengths,
                                            at::IntArrayRef target_lengths,
                                            int64_t blank, bool zero_infinity) {
  check_same_device("_ctc_loss", log_probs, targets);
  check_arguments(fit(log_probs, targets, input_lengths, target_lengths, blank), [&] {
    at::_ctc_loss(zeros_for(log_probs), zeros_for(targets), input_lengths,
                  target_lengths, blank, zero_infinity);
  });
  const int64_t batch = log_probs.size(1);
  const int64_t states = 2 * longest(target_lengths) + 1;
  const at::Tensor loss = at::empty({batch}, log_probs.options());
  const at::Tensor log_alpha =
      at::empty({batch, log_probs.size(0), states}, log_probs.options());
  launch_out("_ctc_loss", kernels::ctc_loss_out, std::array{loss, log_alpha}, log_probs,
             targets, input_lengths, target_lengths, blank, zero_infinity);
  return {loss, log_alpha};
}

std::tuple<at::Tensor, at::Tensor> ctc_loss_tensor(const at::Tensor& log_probs,
                                                   const at::Tensor& targets,
                                                   const at::Tensor& input_lengths,
                                                   const at::Tensor& target_lengths,
                                                   int64_t blank, bool zero_infinity) {
  return openreg::ctc_loss(log_probs, targets, lengths_of(input_lengths),
                           lengths_of(target_lengths), blank, zero_infinity);
}

at::Tensor ctc_loss_backward(const at::Tensor& grad, const at::Tensor& log_probs,
                             const at::Tensor& targets, at::IntArrayRef input_lengths,
                             at::IntArrayRef target_lengths,
                             const at::Tensor& neg_log_likelihood,
                             const at::Tensor& log_alpha, int64_t blank,
                             bool zero_infinity) {
  check_same_device("_ctc_loss_backward", grad, log_probs, targets, neg_log_likelihood,
                    log_alpha);
  check_arguments(
      fit(log_probs, targets, input_lengths, target_lengths, blank) &&
          grad.dim() == 1 && grad.size(0) == log_probs.size(1) &&
          neg_log_likelihood.sizes() == grad.sizes() &&
          log_alpha.sizes() == at::IntArrayRef({log_probs.size(1), log_probs.size(0),
                                                2 * longest(target_lengths) + 1}),
      [&] {
        at::_ctc_loss_backward(zeros_for(grad), zeros_for(log_probs),
                               zeros_for(targets), input_lengths, target_lengths,
                               zeros_for(neg_log_likelihood), zeros_for(log_alpha),
                               blank, zero_infinity);
      });
  const at::Tensor result = at::empty_like(log_probs, at::MemoryFormat::Contiguous);
  launch_out("_ctc_loss_backward", kernels::ctc_loss_backward_out, std::array{result},
             grad, log_probs, targets, input_lengths, target_lengths,
             neg_log_likelihood, log_alpha, blank, zero_infinity);
  return result;
}

at::Tensor ctc_loss_backward_tensor(const at::Tensor& grad, const at::Tensor& log_probs,
                                    const at::Tensor& targets,
                                    const at::Tensor& input_lengths,
                                    const at::Tensor& target_lengths,
                                    const at::Tensor& neg_log_likelihood,
                                    const at::Tensor& log_alpha, int64_t blank,
                                    bool zero_infinity) {
  return openreg::ctc_loss_backward(grad, log_probs, targets, lengths_of(input_lengths),
                                    lengths_of(target_lengths), neg_log_likelihood,
                                    log_alpha, blank, zero_infinity);
}

}  // namespace openreg
