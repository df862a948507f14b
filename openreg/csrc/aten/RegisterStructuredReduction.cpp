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

#include "csrc/aten/structured/Structured.h"

namespace openreg {

namespace op = at::_ops;
namespace meta = at::meta;
namespace cpu = at::cpu;

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
  structured<op::all, op::all_all_out, meta::structured_all, cpu::all_outf>(m);
  structured<op::all_dim, op::all_out, meta::structured_all_dim, cpu::all_outf>(m);
  structured<op::all_dims, op::all_dims_out, meta::structured_all_dims, cpu::all_outf>(
      m);
  structured<op::any, op::any_all_out, meta::structured_any, cpu::any_outf>(m);
  structured<op::any_dim, op::any_out, meta::structured_any_dim, cpu::any_outf>(m);
  structured<op::any_dims, op::any_dims_out, meta::structured_any_dims, cpu::any_outf>(
      m);
  structured<op::sum_dim_IntList, op::sum_IntList_out, meta::structured_sum_dim_IntList,
             cpu::sum_outf>(m);
  structured<op::prod_dim_int, op::prod_int_out, meta::structured_prod_dim_int,
             cpu::prod_outf>(m);
  structured<op::mean_dim, op::mean_out, meta::structured_mean_dim, cpu::mean_outf>(m);
  structured<op::amax, op::amax_out, meta::structured_amax, cpu::amax_outf>(m);
  structured<op::amin, op::amin_out, meta::structured_amin, cpu::amin_outf>(m);
  structured<op::aminmax, op::aminmax_out, meta::structured_aminmax, cpu::aminmax_outf>(
      m);
  structured<op::max_dim, op::max_dim_max, meta::structured_max_dim, cpu::max_outf>(m);
  structured<op::min_dim, op::min_dim_min, meta::structured_min_dim, cpu::min_outf>(m);
  structured<op::argmax, op::argmax_out, meta::structured_argmax, cpu::argmax_outf>(m);
  structured<op::argmin, op::argmin_out, meta::structured_argmin, cpu::argmin_outf>(m);
  structured<op::norm_ScalarOpt_dim, op::norm_out, meta::structured_norm_ScalarOpt_dim,
             cpu::norm_outf>(m);
  structured<op::norm_ScalarOpt_dim_dtype, op::norm_dtype_out,
             meta::structured_norm_ScalarOpt_dim_dtype, cpu::norm_outf>(m);
  structured<op::linalg_vector_norm, op::linalg_vector_norm_out,
             meta::structured_linalg_vector_norm, cpu::linalg_vector_norm_outf>(m);
  structured<op::cumsum, op::cumsum_out, meta::structured_cumsum, cpu::cumsum_outf>(m);
  structured<op::cumprod, op::cumprod_out, meta::structured_cumprod, cpu::cumprod_outf>(
      m);
  structured<op::_softmax, op::_softmax_out,
             WithoutConversion<meta::structured__softmax>, cpu::_softmax_outf>(m);
  structured<op::_softmax_backward_data, op::_softmax_backward_data_out,
             meta::structured__softmax_backward_data, cpu::_softmax_backward_data_outf>(
      m);
  structured<op::_log_softmax, op::_log_softmax_out,
             WithoutConversion<meta::structured__log_softmax>, cpu::_log_softmax_outf>(
      m);
  structured<op::_log_softmax_backward_data, op::_log_softmax_backward_data_out,
             meta::structured__log_softmax_backward_data,
             cpu::_log_softmax_backward_data_outf>(m);
  structured<op::sort_stable, op::sort_values_stable, meta::structured_sort_stable,
             cpu::sort_outf>(m);
  structured<op::topk, op::topk_values, meta::structured_topk, cpu::topk_outf>(m);
}

}  // namespace openreg
