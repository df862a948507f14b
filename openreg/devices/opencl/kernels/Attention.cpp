// Fused attention and its gradients; see docs/opencl/kernels.md.
#include "csrc/kernels/Attention.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>

#include "csrc/aten/common/TensorArguments.h"
#include "csrc/kernels/AttentionSource.h"
#include "csrc/kernels/IndexingPlacement.h"
#include "csrc/kernels/RandomSource.h"
#include "csrc/kernels/opencl/Launch.h"

namespace ocl::opencl {
namespace {

using at::Tensor;
using kernels::AttentionProblem;

// The struct of kAttentionForward.
struct AttentionArgument {
  int64_t batch, heads, kv_heads, length, keys, causal, drops;
  int64_t query[4], key[4], value[4], bias[4], out[4], grad_out[4], logsumexp[3];
  int64_t of_query[4], of_key[4], of_value[4], of_bias[4], bias_sizes[4];
  uint64_t limit, scale, keep;
};

bool is_wide(const Tensor& query) { return query.scalar_type() == at::kDouble; }

// The only dtype of attention that a device may lack is float64.
void check_device(const Tensor& query) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      supports(query.scalar_type()), "ocl: the fused attention of ",
      query.scalar_type(), " has no kernel on this device; use float32, or torch.nn.",
      "attention.sdpa_kernel(SDPBackend.MATH), whose operators fall back to the CPU");
}

at::ScalarType dtype_of_rows(const Tensor& query) {
  return is_wide(query) ? at::kDouble : at::kFloat;
}

uint64_t bits_of(double number, bool wide) {
  return wide ? std::bit_cast<uint64_t>(number)
              : std::bit_cast<uint32_t>(static_cast<float>(number));
}

// Kernels read rows as vectors.
Tensor dense_rows(const Tensor& tensor) {
  return tensor.stride(-1) == 1 || tensor.size(-1) == 1 ? tensor : tensor.contiguous();
}

// Where a kernel writes the rows that become those of `tensor`.
Tensor dense_for(const Tensor& tensor) {
  const bool direct = !tensor.defined() || tensor.stride(-1) == 1;
  return direct ? tensor : at::empty(tensor.sizes(), tensor.options());
}

void finish(const Tensor& tensor, const Tensor& written) {
  if (tensor.defined() && !written.is_same(tensor)) {
    tensor.copy_(written);
  }
}

// A bias with all four dimensions; undefined stays so.
Tensor with_dims(Tensor bias) {
  while (bias.defined() && bias.dim() < 4) {
    bias = bias.unsqueeze(0);
  }
  return bias;
}

template <size_t kDims>
void put_strides(int64_t (&to)[kDims], const Tensor& tensor) {
  if (tensor.defined()) {
    std::copy(tensor.strides().begin(), tensor.strides().end(), to);
  }
}

AttentionArgument argument_of(const Tensor& query, const Tensor& key,
                              const Tensor& value, const Tensor& bias,
                              const AttentionProblem& given) {
  AttentionArgument problem{};
  const bool wide = is_wide(query);
  problem.batch = query.size(0);
  problem.heads = query.size(1);
  problem.kv_heads = key.size(1);
  problem.length = query.size(2);
  problem.keys = key.size(2);
  problem.causal = given.is_causal ? 1 : 0;
  problem.drops = given.dropout_p > 0 ? 1 : 0;
  problem.limit = static_cast<uint64_t>(given.dropout_p * 0x1p32);
  problem.scale = bits_of(given.scale, wide);
  problem.keep = bits_of(given.dropout_p < 1 ? 1 / (1 - given.dropout_p) : 0, wide);
  put_strides(problem.query, query);
  put_strides(problem.key, key);
  put_strides(problem.value, value);
  if (bias.defined()) {
    std::copy(bias.sizes().begin(), bias.sizes().end(), problem.bias_sizes);
    put_strides(problem.bias, bias.expand({query.size(0), query.size(1), query.size(2),
                                           key.size(2)}));
  }
  return problem;
}

const Source& attention_source() {
  static const auto* const text = new std::string(
      join({kPhilox, kAttentionRows, kAttentionForward, kAttentionBackward}));
  static const Source only{text->c_str()};
  return only;
}

std::string attention_options(const Tensor& query, const Tensor& value,
                              const Tensor& bias) {
  const int64_t width = std::gcd(std::gcd(query.size(3), value.size(3)), int64_t{8});
  std::string options = define("T", query.scalar_type()) +
                        define("B", (bias.defined() ? bias : query).scalar_type());
  options += "-DE=" + std::to_string(query.size(3)) +
             " -DEV=" + std::to_string(value.size(3)) + " -DN=" + std::to_string(width);
  return options + (is_wide(query) ? " -DC=double -DWIDE -DEXACT" : " -DC=float");
}

}  // namespace
}  // namespace ocl::opencl

namespace ocl::kernels {

using namespace opencl;  // NOLINT: the two halves of one room

void attention(const Tensor& query, const Tensor& key, const Tensor& value,
               const std::optional<Tensor>& bias, const AttentionProblem& given,
               const PhiloxKernelState& random, Tensor& out, Tensor& logsumexp,
               Tensor& seed, Tensor& offset) {
  check_device(query);
  const Tensor q = dense_rows(query), k = dense_rows(key), v = dense_rows(value);
  const Tensor b = with_dims(or_undefined(bias));
  const Tensor written = dense_for(out);
  AttentionArgument problem = argument_of(q, k, v, b, given);
  put_strides(problem.out, written);
  put_strides(problem.logsumexp, logsumexp);
  launch(attention_source(), "attend", attention_options(q, v, b),
         Range({problem.length, problem.heads, problem.batch}), q, k, v, b,
         writes(written), writes(logsumexp), writes(seed), writes(offset),
         RandomStart(random), random.of_graph(), problem);
  finish(out, written);
}

void attention_backward(const Tensor& grad_out, const Tensor& query, const Tensor& key,
                        const Tensor& value, const Tensor& bias,
                        const AttentionProblem& given, const Tensor& out,
                        const Tensor& logsumexp, const Tensor& seed,
                        const Tensor& offset, std::array<Tensor, 4>& grads) {
  check_device(query);
  const Tensor q = dense_rows(query), k = dense_rows(key), v = dense_rows(value);
  const Tensor d = dense_rows(grad_out), o = dense_rows(out), b = with_dims(bias);
  const Tensor of_q = dense_for(grads[0]), of_k = dense_for(grads[1]),
               of_v = dense_for(grads[2]), of_b = with_dims(grads[3]);
  AttentionArgument problem = argument_of(q, k, v, b, given);
  put_strides(problem.out, o);
  put_strides(problem.grad_out, d);
  put_strides(problem.logsumexp, logsumexp);
  put_strides(problem.of_query, of_q);
  put_strides(problem.of_key, of_k);
  put_strides(problem.of_value, of_v);
  put_strides(problem.of_bias, of_b);
  // The logsumexp of each row, and the mean that the gradients are relative to.
  const Tensor rows = at::empty({problem.batch * problem.heads * problem.length, 2},
                                q.options().dtype(dtype_of_rows(q)));
  const std::string options = attention_options(q, v, b);
  launch(attention_source(), "of_query", options,
         Range({problem.length, problem.heads, problem.batch}), q, k, v, b, d, seed,
         offset, o, logsumexp, writes(rows), writes(of_q), problem);
  if (of_k.defined() || of_v.defined()) {
    launch(attention_source(), "of_key", options,
           Range({problem.keys, problem.kv_heads, problem.batch}), q, k, v, b, d, seed,
           offset, rows, writes(of_k), writes(of_v), problem);
  }
  if (of_b.defined()) {
    launch(attention_source(), "of_bias", options, Range({of_b.numel()}), q, k, v, b, d,
           seed, offset, rows, writes(of_b), problem);
  }
  finish(grads[0], of_q);
  finish(grads[1], of_k);
  finish(grads[2], of_v);
}

}  // namespace ocl::kernels
