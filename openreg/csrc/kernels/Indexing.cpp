// Kernels that gather, scatter or join, by index or mask; see
// docs/operators/structured.md.
#include "csrc/kernels/Indexing.h"

#include <ATen/CPUFunctions.h>
#include <ATen/Operators.h>
#include <ATen/ops/_index_put_impl.h>
#include <ATen/ops/cat_meta.h>
#include <ATen/ops/embedding_dense_backward.h>
#include <ATen/ops/gather_meta.h>
#include <ATen/ops/index_add_meta.h>
#include <ATen/ops/index_copy_meta.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/repeat_interleave.h>
#include <ATen/ops/scatter_add_meta.h>
#include <ATen/ops/scatter_meta.h>
#include <ATen/ops/scatter_reduce_meta.h>
#include <ATen/ops/tril_meta.h>
#include <ATen/ops/triu_meta.h>

#include "csrc/aten/meta/Indexing.h"
#include "csrc/kernels/cpu/Functions.h"
#include "csrc/kernels/cpu/OnCpu.h"
#include "csrc/runtime/errors/IgnoreWarnings.h"

// The host has warned where elements share memory: these drop the warnings of ATen.
namespace openreg::kernels {

using at::Tensor;

void index(const Tensor& self, const IndexList& indices, const Tensor& out) {
  cpu::call("index", at::cpu::index_outf, self, indices, out);
}

void index_put(const Tensor& out, const IndexList& indices, const Tensor& values,
               bool accumulate, bool unsafe) {
  cpu::call(
      "index_put_",
      [](Tensor& to, const IndexList& where, const Tensor& from, bool add,
         bool unchecked) {
        const IgnoreWarnings ignored;
        at::_index_put_impl_(to, where, from, add, unchecked);
      },
      out, indices, values, accumulate, unsafe);
}

void masked_fill(const Tensor& out, const Tensor& mask, const Tensor& value) {
  cpu::call(
      "masked_fill_",
      [](Tensor& to, const Tensor& where, const Tensor& number) {
        const IgnoreWarnings ignored;
        to.masked_fill_(where, number);
      },
      out, mask, value);
}

void masked_fill(const Tensor& out, const Tensor& mask, const at::Scalar& value) {
  cpu::call(
      "masked_fill_",
      [](Tensor& to, const Tensor& where, const at::Scalar& number) {
        const IgnoreWarnings ignored;
        to.masked_fill_(where, number);
      },
      out, mask, value);
}

void index_fill(const Tensor& out, int64_t dim, const Tensor& index,
                const at::Scalar& value) {
  cpu::call(
      "index_fill_",
      [](Tensor& to, int64_t along, const Tensor& where, const at::Scalar& number) {
        const IgnoreWarnings ignored;
        to.index_fill_(along, where, number);
      },
      out, dim, index, value);
}

void masked_scatter(const Tensor& out, const Tensor& mask, const Tensor& source) {
  cpu::call(
      "masked_scatter_",
      [](Tensor& to, const Tensor& where, const Tensor& from) {
        to.masked_scatter_(where, from);
      },
      out, mask, source);
}

}  // namespace openreg::kernels

namespace openreg {
namespace {

namespace op = at::_ops;
namespace meta = at::meta;
using at::Tensor;

// A caller may give a wrong size of the output: a device fault.
void repeat_interleave(const Tensor& repeats, std::optional<int64_t>, Tensor& out) {
  cpu::call(
      "repeat_interleave",
      [](const Tensor& times, Tensor& to) {
        const Tensor all = at::repeat_interleave(times, std::nullopt);
        TORCH_CHECK(all.numel() == to.numel(),
                    "repeat_interleave: allocated size does not match required size: ",
                    "output_size=", to.numel(), ", but the repeats give ", all.numel());
        to.copy_(all);
      },
      repeats, out);
}

// Its meta function warns that `reduce` is deprecated: on the host, and in the kernel.
constexpr auto* kScatterReduce =
    static_cast<at::Tensor& (*)(const at::Tensor&, int64_t, const at::Tensor&,
                                const at::Tensor&, c10::string_view, at::Tensor&)>(
        at::cpu::scatter_outf);

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu<op::cat, op::cat_out, meta::structured_cat, at::cpu::cat_outf>(m);
  cpu::on_cpu<op::gather, op::gather_out, meta::structured_gather,
              at::cpu::gather_outf>(m);
  cpu::on_cpu<op::scatter_src, op::scatter_src_out, meta::structured_scatter_src,
              at::cpu::scatter_outf>(m);
  cpu::on_cpu<op::scatter_value, op::scatter_value_out, meta::structured_scatter_value,
              at::cpu::scatter_outf>(m);
  cpu::on_cpu<op::scatter_reduce, op::scatter_reduce_out,
              meta::structured_scatter_reduce, cpu::without_warnings<kScatterReduce>>(
      m);
  cpu::on_cpu<op::scatter_value_reduce, op::scatter_value_reduce_out,
              meta::structured_scatter_value_reduce, at::cpu::scatter_outf>(m);
  cpu::on_cpu<op::scatter_add, op::scatter_add_out, meta::structured_scatter_add,
              at::cpu::scatter_add_outf>(m);
  cpu::on_cpu<op::scatter_reduce_two, op::scatter_reduce_two_out,
              meta::structured_scatter_reduce_two, at::cpu::scatter_reduce_outf>(m);
  cpu::on_cpu<op::index_add, op::index_add_out, meta::structured_index_add,
              at::cpu::index_add_outf>(m);
  cpu::on_cpu<op::index_copy, op::index_copy_out, meta::structured_index_copy,
              at::cpu::index_copy_outf>(m);
  cpu::on_cpu_in_place<op::tril, op::tril_out, meta::structured_tril,
                       at::cpu::tril_outf, at::cpu::tril_>(m);
  cpu::on_cpu_in_place<op::triu, op::triu_out, meta::structured_triu,
                       at::cpu::triu_outf, at::cpu::triu_>(m);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu<op::index_select, op::index_select_out, IndexSelect,
              at::index_select_outf>(m);
  cpu::on_cpu<op::nonzero, op::nonzero_out, Nonzero, at::nonzero_outf>(m);
  cpu::on_cpu_without_out<op::embedding_dense_backward, EmbeddingDenseBackward,
                          at::embedding_dense_backward_outf>(m);
  structured_without_out<op::repeat_interleave_Tensor, RepeatInterleave>(
      m, repeat_interleave);
}

}  // namespace openreg
