// Kernels of attention; see docs/operators/attention.md.
#include "csrc/kernels/Attention.h"

#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <ATen/core/PhiloxRNGEngine.h>
#include <ATen/native/DispatchStub.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <torch/library.h>

#include <limits>

#include "csrc/kernels/cpu/Launch.h"

// The CPU also has a fused kernel, which the device uses where it applies: without
// dropout, with equal head sizes, and without a bias together with the causal mask. It
// has neither dropout nor the gradient of the bias, so the code below computes the
// other cases.
namespace openreg {
namespace {

using kernels::AttentionProblem;

// What a kernel reads, on the device. The bias may be undefined.
struct AttentionInputs {
  const at::Tensor &query, &key, &value, &bias;
  const at::Tensor &seed, &offset;  // of the dropout
};

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

bool cpu_has_it(const AttentionInputs& in, const AttentionProblem& problem) {
  return problem.dropout_p == 0 && in.query.size(3) == in.value.size(3) &&
         !(problem.is_causal && in.bias.defined());
}

// Keys or values with as many heads as the queries have.
at::Tensor repeat_heads(const at::Tensor& tensor, int64_t heads) {
  return tensor.size(1) == heads
             ? tensor
             : tensor.repeat_interleave(heads / tensor.size(1), /*dim=*/1);
}

// The opposite: writes the sum over the heads that share one of `out`.
void write_sum_of_heads(const at::Tensor& out, const at::Tensor& grad) {
  if (out.defined()) {
    const int64_t heads = out.size(1);
    out.copy_(grad.size(1) == heads
                  ? grad
                  : grad.unflatten(1, {heads, grad.size(1) / heads}).sum(2));
  }
}

at::Tensor wide(const at::Tensor& tensor) {
  return tensor.to(at::toOpMathType(tensor.scalar_type()));
}

at::Tensor expanded_bias(const AttentionInputs& in) {
  return in.bias.expand(
      {in.query.size(0), in.query.size(1), in.query.size(2), in.key.size(2)});
}

std::optional<at::Tensor> optional_bias(const AttentionInputs& in) {
  return in.bias.defined() ? std::make_optional(expanded_bias(in)) : std::nullopt;
}

// The probabilities [B, H, L, S] before the dropout, and their logsumexp. A row without
// visible keys gives zeros, not the quotient 0 / 0.
std::pair<at::Tensor, at::Tensor> probabilities(const at::Tensor& query,
                                                const at::Tensor& key,
                                                const AttentionInputs& in,
                                                const AttentionProblem& problem) {
  at::Tensor scores = at::matmul(query, key.transpose(-2, -1)).mul_(problem.scale);
  if (in.bias.defined()) {
    scores.add_(in.bias);
  }
  if (problem.is_causal) {
    const at::Tensor seen = at::ones({query.size(2), key.size(2)}, at::kBool).tril();
    scores.masked_fill_(seen.logical_not(), kMinusInfinity);
  }
  const at::Tensor logsumexp = at::logsumexp(scores, {-1});
  const at::Tensor shift =
      logsumexp.masked_fill(logsumexp.eq(kMinusInfinity), 0).unsqueeze(-1);
  return {scores.sub_(shift).exp_(), logsumexp};
}

// LITERALINCLUDE START: ATTENTION_DROPOUT
// Which probabilities survive the dropout. The backward calls this with the seed and
// the offset of the forward and gets the same mask, which is therefore not stored.
at::Tensor kept(const at::Tensor& probabilities, const AttentionInputs& in,
                const AttentionProblem& problem) {
  const auto seed = static_cast<uint64_t>(*in.seed.const_data_ptr<int64_t>());
  const auto offset = static_cast<uint64_t>(*in.offset.const_data_ptr<int64_t>());
  const auto limit = static_cast<uint64_t>(problem.dropout_p * 0x1p32);
  at::Tensor mask = at::empty(probabilities.sizes(), at::kBool);
  bool* out = mask.mutable_data_ptr<bool>();
  const int64_t count = mask.numel();
  at::parallel_for(0, (count + 3) / 4, 1024, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      at::Philox4_32 random(seed, /*subsequence=*/0, offset + block);
      for (int64_t i = 4 * block; i < std::min(4 * block + 4, count); ++i) {
        out[i] = random() >= limit;
      }
    }
  });
  return mask;
}
// LITERALINCLUDE END: ATTENTION_DROPOUT

// Drops in place, and scales what stays so that the expectation is the same.
void drop(const at::Tensor& tensor, const at::Tensor& mask, double dropout_p) {
  tensor.mul_(mask).mul_(dropout_p < 1 ? 1 / (1 - dropout_p) : 0);
}

// On the device: writes `out` and `logsumexp`.
void attend(const AttentionInputs& in, const AttentionProblem& problem, at::Tensor& out,
            at::Tensor& logsumexp) {
  const int64_t heads = in.query.size(1);
  const at::Tensor key = repeat_heads(in.key, heads);
  const at::Tensor value = repeat_heads(in.value, heads);
  if (cpu_has_it(in, problem)) {
    const auto [values, lse] = at::_scaled_dot_product_flash_attention_for_cpu(
        in.query, key, value, 0.0, problem.is_causal, optional_bias(in), problem.scale);
    out.copy_(values);
    logsumexp.copy_(lse);
    return;
  }
  const auto [weights, lse] = probabilities(wide(in.query), wide(key), in, problem);
  if (problem.dropout_p > 0) {
    drop(weights, kept(weights, in, problem), problem.dropout_p);
  }
  out.copy_(at::matmul(weights, wide(value)));
  logsumexp.copy_(lse);
}

// On the device: writes those of `grads` that are defined.
void attend_backward(const at::Tensor& grad_out, const AttentionInputs& in,
                     const AttentionProblem& problem, const at::Tensor& out,
                     const at::Tensor& logsumexp,
                     const std::array<at::Tensor, 4>& grads) {
  const int64_t heads = in.query.size(1);
  const at::Tensor key = repeat_heads(in.key, heads);
  const at::Tensor value = repeat_heads(in.value, heads);
  // Of float64, the forward had to round logsumexp: torch promises float32.
  const bool exact = in.query.scalar_type() != at::kDouble;
  if (exact && cpu_has_it(in, problem) && !grads[3].defined()) {
    const auto [dq, dk, dv] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
        grad_out, in.query, key, value, out, logsumexp, 0.0, problem.is_causal,
        optional_bias(in), problem.scale);
    write_sum_of_heads(grads[0], dq);
    write_sum_of_heads(grads[1], dk);
    write_sum_of_heads(grads[2], dv);
    return;
  }
  // LITERALINCLUDE START: ATTENTION_BACKWARD
  const at::Tensor q = wide(in.query), k = wide(key), d_out = wide(grad_out);
  const at::Tensor weights = probabilities(q, k, in, problem).first;
  at::Tensor d_weights = at::matmul(d_out, wide(value).transpose(-2, -1));
  at::Tensor dropped = weights;
  if (problem.dropout_p > 0) {
    const at::Tensor mask = kept(weights, in, problem);
    drop(d_weights, mask, problem.dropout_p);
    dropped = weights.clone();
    drop(dropped, mask, problem.dropout_p);
  }
  const at::Tensor correction = d_weights.mul(weights).sum(-1, /*keepdim=*/true);
  const at::Tensor d_scores = d_weights.sub_(correction).mul_(weights);
  write_sum_of_heads(grads[0], at::matmul(d_scores, k).mul_(problem.scale));
  write_sum_of_heads(grads[1],
                     at::matmul(d_scores.transpose(-2, -1), q).mul_(problem.scale));
  write_sum_of_heads(grads[2], at::matmul(dropped.transpose(-2, -1), d_out));
  if (grads[3].defined()) {
    grads[3].copy_(d_scores.sum_to_size(grads[3].sizes()));
  }
  // LITERALINCLUDE END: ATTENTION_BACKWARD
}

}  // namespace

// LITERALINCLUDE START: ATTENTION_KERNEL
void kernels::attention(const at::Tensor& query, const at::Tensor& key,
                        const at::Tensor& value, const std::optional<at::Tensor>& bias,
                        const AttentionProblem& problem,
                        const PhiloxKernelState& random, at::Tensor& out,
                        at::Tensor& logsumexp, at::Tensor& seed, at::Tensor& offset) {
  cpu::launch(
      "attention",
      [](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
         const std::optional<at::Tensor>& b, const AttentionProblem& p,
         PhiloxState start, at::Tensor& o, at::Tensor& lse, at::Tensor& of_seed,
         at::Tensor& of_offset) {
        of_seed.fill_(static_cast<int64_t>(start.seed));
        of_offset.fill_(static_cast<int64_t>(start.offset));
        attend({q, k, v, cpu::or_undefined(b), of_seed, of_offset}, p, o, lse);
      },
      query, key, value, bias, problem, random, out, logsumexp, seed, offset);
}
// LITERALINCLUDE END: ATTENTION_KERNEL

void kernels::attention_backward(const at::Tensor& grad_out, const at::Tensor& query,
                                 const at::Tensor& key, const at::Tensor& value,
                                 const at::Tensor& bias,
                                 const AttentionProblem& problem, const at::Tensor& out,
                                 const at::Tensor& logsumexp, const at::Tensor& seed,
                                 const at::Tensor& offset,
                                 std::array<at::Tensor, 4>& grads) {
  cpu::launch(
      "attention_backward",
      [](const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k,
         const at::Tensor& v, const at::Tensor& b, const AttentionProblem& p,
         const at::Tensor& o, const at::Tensor& lse, const at::Tensor& of_seed,
         const at::Tensor& of_offset, at::Tensor& dq, at::Tensor& dk, at::Tensor& dv,
         at::Tensor& db) {
        attend_backward(grad, {q, k, v, b, of_seed, of_offset}, p, o, lse,
                        {dq, dk, dv, db});
      },
      grad_out, query, key, value, bias, problem, out, logsumexp, seed, offset,
      grads[0], grads[1], grads[2], grads[3]);
}

}  // namespace openreg
