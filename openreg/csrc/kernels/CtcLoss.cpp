// The loss of connectionist temporal classification; see docs/operators/structured.md.
#include "csrc/aten/meta/CtcLoss.h"

#include <ATen/Operators.h>
#include <ATen/ops/_ctc_loss.h>
#include <ATen/ops/_ctc_loss_backward.h>

#include <algorithm>

#include "csrc/aten/structured/Structured.h"
#include "csrc/kernels/cpu/Launch.h"

namespace openreg {
namespace {

namespace op = at::_ops;

// A target that is not the number of a label would read memory out of bounds.
void check_ctc_labels(const at::Tensor& log_probs, const at::Tensor& targets) {
  if (targets.numel() > 0) {
    const at::Tensor labels = targets.to(at::kLong).contiguous();
    const int64_t* first = labels.const_data_ptr<int64_t>();
    const auto [least, most] = std::minmax_element(first, first + labels.numel());
    TORCH_CHECK_INDEX(*most < log_probs.size(2), "Target ", *most,
                      " is out of bounds: there are ", log_probs.size(2), " labels");
  }
}

std::tuple<at::Tensor&, at::Tensor&> ctc_loss_out(
    const at::Tensor& log_probs, const at::Tensor& targets,
    at::IntArrayRef input_lengths, at::IntArrayRef target_lengths, int64_t blank,
    bool zero_infinity, at::Tensor& loss, at::Tensor& log_alpha) {
  check_ctc_labels(log_probs, targets);
  return at::_ctc_loss_outf(log_probs, targets.contiguous(), input_lengths,
                            target_lengths, blank, zero_infinity, loss, log_alpha);
}

// ATen's kernel misreads the zero strides of expanded tensors, and reads and writes out
// of bounds. So it gets contiguous tensors.
at::Tensor& ctc_loss_backward_out(const at::Tensor& grad, const at::Tensor& log_probs,
                                  const at::Tensor& targets,
                                  at::IntArrayRef input_lengths,
                                  at::IntArrayRef target_lengths,
                                  const at::Tensor& neg_log_likelihood,
                                  const at::Tensor& log_alpha, int64_t blank,
                                  bool zero_infinity, at::Tensor& result) {
  check_ctc_labels(log_probs, targets);
  return result.copy_(at::_ctc_loss_backward(
      grad.contiguous(), log_probs, targets.contiguous(), input_lengths, target_lengths,
      neg_log_likelihood.contiguous(), log_alpha.contiguous(), blank, zero_infinity));
}

// Without a trial: ATen does not check the lengths, and would read outside of the small
// tensors of a trial. The meta functions check the dtypes.
template <auto* kFunction>
struct Launch {
  template <class... Args>
    requires std::is_invocable_v<decltype(kFunction), Args...>
  void operator()(const StructuredCall& call, Args&&... args) const {
    cpu::launch(call.name, kFunction, args...);
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured_without_out<op::_ctc_loss, CtcLoss>(m, Launch<ctc_loss_out>());
  structured_without_out<op::_ctc_loss_backward, CtcLossBackward>(
      m, Launch<ctc_loss_backward_out>());
}

}  // namespace openreg
