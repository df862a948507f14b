// Registers reductions, scans, softmax and sorting; see docs/operators/structured.md.
#include <ATen/CPUFunctions.h>
#include <ATen/Operators.h>
#include <ATen/ops/_log_softmax_backward_data_meta.h>
#include <ATen/ops/_log_softmax_meta.h>
#include <ATen/ops/_softmax_backward_data_meta.h>
#include <ATen/ops/_softmax_meta.h>
#include <ATen/ops/all_meta.h>
#include <ATen/ops/amax_meta.h>
#include <ATen/ops/amin_meta.h>
#include <ATen/ops/aminmax_meta.h>
#include <ATen/ops/any_meta.h>
#include <ATen/ops/argmax_meta.h>
#include <ATen/ops/argmin_meta.h>
#include <ATen/ops/cumprod_meta.h>
#include <ATen/ops/cumsum_meta.h>
#include <ATen/ops/linalg_vector_norm_meta.h>
#include <ATen/ops/max_meta.h>
#include <ATen/ops/mean_meta.h>
#include <ATen/ops/min_meta.h>
#include <ATen/ops/norm_meta.h>
#include <ATen/ops/prod_meta.h>
#include <ATen/ops/sort_meta.h>
#include <ATen/ops/sum_meta.h>
#include <ATen/ops/topk_meta.h>

#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {

namespace op = at::_ops;
namespace meta = at::meta;

// The kernels do not convert from half, which CUDA's do.
template <class Softmax>
struct WithoutConversion : Softmax {
  void meta(const at::Tensor& self, int64_t dim, bool half_to_float) {
    TORCH_CHECK(!half_to_float, "openreg: softmax: half_to_float is not supported; ",
                "convert the input first");
    Softmax::meta(self, dim, half_to_float);
  }
};

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu<op::all, op::all_all_out, meta::structured_all, at::cpu::all_outf>(m);
  cpu::on_cpu<op::all_dim, op::all_out, meta::structured_all_dim, at::cpu::all_outf>(m);
  cpu::on_cpu<op::all_dims, op::all_dims_out, meta::structured_all_dims,
              at::cpu::all_outf>(m);
  cpu::on_cpu<op::any, op::any_all_out, meta::structured_any, at::cpu::any_outf>(m);
  cpu::on_cpu<op::any_dim, op::any_out, meta::structured_any_dim, at::cpu::any_outf>(m);
  cpu::on_cpu<op::any_dims, op::any_dims_out, meta::structured_any_dims,
              at::cpu::any_outf>(m);
  cpu::on_cpu<op::sum_dim_IntList, op::sum_IntList_out,
              meta::structured_sum_dim_IntList, at::cpu::sum_outf>(m);
  cpu::on_cpu<op::prod_dim_int, op::prod_int_out, meta::structured_prod_dim_int,
              at::cpu::prod_outf>(m);
  cpu::on_cpu<op::mean_dim, op::mean_out, meta::structured_mean_dim,
              at::cpu::mean_outf>(m);
  cpu::on_cpu<op::amax, op::amax_out, meta::structured_amax, at::cpu::amax_outf>(m);
  cpu::on_cpu<op::amin, op::amin_out, meta::structured_amin, at::cpu::amin_outf>(m);
  cpu::on_cpu<op::aminmax, op::aminmax_out, meta::structured_aminmax,
              at::cpu::aminmax_outf>(m);
  cpu::on_cpu<op::max_dim, op::max_dim_max, meta::structured_max_dim,
              at::cpu::max_outf>(m);
  cpu::on_cpu<op::min_dim, op::min_dim_min, meta::structured_min_dim,
              at::cpu::min_outf>(m);
  cpu::on_cpu<op::argmax, op::argmax_out, meta::structured_argmax,
              at::cpu::argmax_outf>(m);
  cpu::on_cpu<op::argmin, op::argmin_out, meta::structured_argmin,
              at::cpu::argmin_outf>(m);
  cpu::on_cpu<op::norm_ScalarOpt_dim, op::norm_out, meta::structured_norm_ScalarOpt_dim,
              at::cpu::norm_outf>(m);
  cpu::on_cpu<op::norm_ScalarOpt_dim_dtype, op::norm_dtype_out,
              meta::structured_norm_ScalarOpt_dim_dtype, at::cpu::norm_outf>(m);
  cpu::on_cpu<op::linalg_vector_norm, op::linalg_vector_norm_out,
              meta::structured_linalg_vector_norm, at::cpu::linalg_vector_norm_outf>(m);
  cpu::on_cpu<op::cumsum, op::cumsum_out, meta::structured_cumsum,
              at::cpu::cumsum_outf>(m);
  cpu::on_cpu<op::cumprod, op::cumprod_out, meta::structured_cumprod,
              at::cpu::cumprod_outf>(m);
  cpu::on_cpu<op::_softmax, op::_softmax_out,
              WithoutConversion<meta::structured__softmax>, at::cpu::_softmax_outf>(m);
  cpu::on_cpu<op::_softmax_backward_data, op::_softmax_backward_data_out,
              meta::structured__softmax_backward_data,
              at::cpu::_softmax_backward_data_outf>(m);
  cpu::on_cpu<op::_log_softmax, op::_log_softmax_out,
              WithoutConversion<meta::structured__log_softmax>,
              at::cpu::_log_softmax_outf>(m);
  cpu::on_cpu<op::_log_softmax_backward_data, op::_log_softmax_backward_data_out,
              meta::structured__log_softmax_backward_data,
              at::cpu::_log_softmax_backward_data_outf>(m);
  cpu::on_cpu<op::sort_stable, op::sort_values_stable, meta::structured_sort_stable,
              at::cpu::sort_outf>(m);
  cpu::on_cpu<op::topk, op::topk_values, meta::structured_topk, at::cpu::topk_outf>(m);
}

}  // namespace openreg
