// Operators that are made of other operators, which torch registers for its own devices
// only; see docs/operators/registration.md.
#include <ATen/ops/_ctc_loss.h>
#include <ATen/ops/_ctc_loss_backward.h>
#include <torch/library.h>

#include <tuple>
#include <vector>

namespace openreg {
namespace {

using at::Tensor;

std::vector<int64_t> lengths_of(const Tensor& lengths) {
  TORCH_CHECK(at::isIntegralType(lengths.scalar_type(), /*includeBool=*/false),
              "input_lengths and target_lengths must be integral");
  const Tensor here = lengths.to(at::kCPU, at::kLong).contiguous();
  const int64_t* first = here.const_data_ptr<int64_t>();
  return {first, first + here.numel()};
}

// With lengths as tensors: the host waits for them, as on CUDA.
std::tuple<Tensor, Tensor> ctc_loss(const Tensor& log_probs, const Tensor& targets,
                                    const Tensor& input_lengths,
                                    const Tensor& target_lengths, int64_t blank,
                                    bool zero_infinity) {
  return at::_ctc_loss(log_probs, targets, lengths_of(input_lengths),
                       lengths_of(target_lengths), blank, zero_infinity);
}

Tensor ctc_loss_backward(const Tensor& grad, const Tensor& log_probs,
                         const Tensor& targets, const Tensor& input_lengths,
                         const Tensor& target_lengths, const Tensor& neg_log_likelihood,
                         const Tensor& log_alpha, int64_t blank, bool zero_infinity) {
  return at::_ctc_loss_backward(grad, log_probs, targets, lengths_of(input_lengths),
                                lengths_of(target_lengths), neg_log_likelihood,
                                log_alpha, blank, zero_infinity);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_ctc_loss.Tensor", ctc_loss);
  m.impl("_ctc_loss_backward.Tensor", ctc_loss_backward);
}

}  // namespace openreg
