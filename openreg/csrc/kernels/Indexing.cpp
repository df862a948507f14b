// Registers operators that gather, scatter or join; see docs/operators/structured.md.
#include <ATen/CPUFunctions.h>
#include <ATen/Operators.h>
#include <ATen/ops/cat_meta.h>
#include <ATen/ops/gather_meta.h>
#include <ATen/ops/index_add_meta.h>
#include <ATen/ops/index_copy_meta.h>
#include <ATen/ops/scatter_add_meta.h>
#include <ATen/ops/scatter_meta.h>
#include <ATen/ops/scatter_reduce_meta.h>
#include <ATen/ops/tril_meta.h>
#include <ATen/ops/triu_meta.h>

#include "csrc/kernels/cpu/Functions.h"
#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {

namespace op = at::_ops;
namespace meta = at::meta;

// Its meta function warns that `reduce` is deprecated: on the host, and in the kernel.
constexpr auto* kScatterReduce =
    static_cast<at::Tensor& (*)(const at::Tensor&, int64_t, const at::Tensor&,
                                const at::Tensor&, c10::string_view, at::Tensor&)>(
        at::cpu::scatter_outf);

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu<op::cat, op::cat_out, meta::structured_cat, at::cpu::cat_outf>(m);
  cpu::on_cpu<op::gather, op::gather_out, meta::structured_gather, at::cpu::gather_outf>(m);
  cpu::on_cpu<op::scatter_src, op::scatter_src_out, meta::structured_scatter_src,
             at::cpu::scatter_outf>(m);
  cpu::on_cpu<op::scatter_value, op::scatter_value_out, meta::structured_scatter_value,
             at::cpu::scatter_outf>(m);
  cpu::on_cpu<op::scatter_reduce, op::scatter_reduce_out,
             meta::structured_scatter_reduce, cpu::without_warnings<kScatterReduce>>(m);
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
  cpu::on_cpu_in_place<op::tril, op::tril_out, meta::structured_tril, at::cpu::tril_outf, at::cpu::tril_>(m);
  cpu::on_cpu_in_place<op::triu, op::triu_out, meta::structured_triu, at::cpu::triu_outf, at::cpu::triu_>(m);
}

}  // namespace openreg
