// Meta functions of the loss of connectionist temporal classification; see
// docs/operators/meta-functions.md.
#include "csrc/aten/meta/CtcLoss.h"

#include <ATen/ops/_ctc_loss.h>
#include <ATen/ops/_ctc_loss_backward.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <numeric>

#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

int64_t longest(at::IntArrayRef lengths) {
  return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
}

// Whether the sizes match; the host has no other values.
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

bool has_room(const at::Tensor& tensor, at::IntArrayRef sizes) {
  return tensor.dim() == static_cast<int64_t>(sizes.size()) &&
         std::equal(sizes.begin(), sizes.end(), tensor.sizes().begin(),
                    std::less_equal<int64_t>());
}

// Rejects the dtypes that ATen rejects only in its kernels.
void check_dtypes(const at::Tensor& log_probs, const at::Tensor& targets,
                  std::initializer_list<at::Tensor> others) {
  const at::ScalarType dtype = log_probs.scalar_type();
  TORCH_CHECK_NOT_IMPLEMENTED(dtype == at::kFloat || dtype == at::kDouble,
                              "\"ctc_loss\" not implemented for '", dtype, "'");
  TORCH_CHECK(targets.scalar_type() == at::kLong || targets.scalar_type() == at::kInt,
              "expected scalar type Long or Int but found ", targets.scalar_type());
  for (const at::Tensor& other : others) {
    TORCH_CHECK(other.scalar_type() == dtype, "expected scalar type ", dtype,
                " but found ", other.scalar_type());
  }
}

}  // namespace

void CtcLoss::meta(const at::Tensor& log_probs, const at::Tensor& targets,
                   at::IntArrayRef input_lengths, at::IntArrayRef target_lengths,
                   int64_t blank, bool zero_infinity) {
  check_arguments(fit(log_probs, targets, input_lengths, target_lengths, blank), [&] {
    at::_ctc_loss(zeros_for(log_probs), zeros_for(targets), input_lengths,
                  target_lengths, blank, zero_infinity);
  });
  check_dtypes(log_probs, targets, {});
  const int64_t batch = log_probs.size(1);
  const int64_t states = 2 * longest(target_lengths) + 1;
  output(0, {batch}, log_probs.options());
  output(1, {batch, log_probs.size(0), states}, log_probs.options());
}

void CtcLossBackward::meta(const at::Tensor& grad, const at::Tensor& log_probs,
                           const at::Tensor& targets, at::IntArrayRef input_lengths,
                           at::IntArrayRef target_lengths,
                           const at::Tensor& neg_log_likelihood,
                           const at::Tensor& log_alpha, int64_t blank,
                           bool /*zero_infinity*/) {
  // ATen checks none of it, and would read outside of its arguments.
  TORCH_CHECK(
      fit(log_probs, targets, input_lengths, target_lengths, blank) &&
          has_room(grad, {log_probs.size(1)}) &&
          has_room(neg_log_likelihood, {log_probs.size(1)}) &&
          has_room(log_alpha, {log_probs.size(1), log_probs.size(0),
                               2 * longest(target_lengths) + 1}),
      "openreg: _ctc_loss_backward expected what _ctc_loss returns for log_probs ",
      log_probs.sizes(), " and targets ", targets.sizes(), ", but got grad ",
      grad.sizes(), ", neg_log_likelihood ", neg_log_likelihood.sizes(),
      " and log_alpha ", log_alpha.sizes());
  check_dtypes(log_probs, targets, {grad, neg_log_likelihood, log_alpha});
  output(0, log_probs.sizes(), log_probs.options());
}

}  // namespace openreg
