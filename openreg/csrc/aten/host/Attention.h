// The host half of fused scaled dot product attention; see docs/operators/attention.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/SymInt.h>

#include <array>
#include <optional>
#include <tuple>

namespace openreg {

// Answers torch's question which implementation to take: an at::SDPBackend. The fused
// one, unless the arguments or the user forbid it; then the math one. Throws if the
// user forbids both.
int64_t choose_attention(const at::Tensor& query, const at::Tensor& key,
                         const at::Tensor& value,
                         const std::optional<at::Tensor>& attn_mask, double dropout_p,
                         bool is_causal, std::optional<double> scale, bool enable_gqa);

// query [B, H, L, E], key [B, Hkv, S, E], value [B, Hkv, S, Ev], where Hkv divides H;
// attn_bias is added to the scores and broadcasts to [B, H, L, S]. Returns the output
// [B, H, L, Ev], the logsumexp of the scores [B, H, L], two tensors that only nested
// tensors need (undefined), L, S, the seed and the offset of the dropout, and a debug
// mask (undefined).
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, c10::SymInt, c10::SymInt,
           at::Tensor, at::Tensor, at::Tensor>
fused_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                const std::optional<at::Tensor>& attn_bias, double dropout_p,
                bool is_causal, bool return_debug_mask, std::optional<double> scale);

// The gradients of query, key, value and attn_bias; undefined where the mask is false.
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> fused_attention_backward(
    const at::Tensor& grad_out, const at::Tensor& query, const at::Tensor& key,
    const at::Tensor& value, const at::Tensor& attn_bias,
    std::array<bool, 4> grad_input_mask, const at::Tensor& out,
    const at::Tensor& logsumexp, const at::Tensor& cum_seq_q,
    const at::Tensor& cum_seq_k, c10::SymInt max_q, c10::SymInt max_k, double dropout_p,
    bool is_causal, const at::Tensor& philox_seed, const at::Tensor& philox_offset,
    std::optional<double> scale);

// As fused_attention, under the name of CUDA's memory-efficient kernel, which context
// parallelism calls: the output [B, H, L, Ev], the logsumexp [B, H, L], where L is
// filled up to a multiple of 32 (without elements unless `compute_log_sumexp`), seed
// and offset.
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> efficient_attention(
    const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const std::optional<at::Tensor>& attn_bias, bool compute_log_sumexp,
    double dropout_p, bool is_causal, std::optional<double> scale);

// The gradients of query, key, value and attn_bias; undefined where the mask is false.
// `logsumexp` has L positions or more.
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> efficient_attention_backward(
    const at::Tensor& grad_out, const at::Tensor& query, const at::Tensor& key,
    const at::Tensor& value, const at::Tensor& attn_bias, const at::Tensor& out,
    const at::Tensor& logsumexp, const at::Tensor& philox_seed,
    const at::Tensor& philox_offset, double dropout_p,
    std::array<bool, 4> grad_input_mask, bool is_causal, std::optional<double> scale);

}  // namespace openreg
