// Operators with a sparse result; see docs/operators/sparse.md.
#include <ATen/ops/_coalesce_ops.h>
#include <ATen/ops/_sparse_csr_prod_ops.h>
#include <ATen/ops/_sparse_csr_sum_ops.h>
#include <ATen/ops/_sparse_log_softmax_backward_data_ops.h>
#include <ATen/ops/_sparse_log_softmax_ops.h>
#include <ATen/ops/_sparse_softmax_backward_data_ops.h>
#include <ATen/ops/_sparse_softmax_ops.h>
#include <ATen/ops/_sparse_sparse_matmul_ops.h>
#include <ATen/ops/_sparse_sum_backward_ops.h>
#include <ATen/ops/hspmm_ops.h>
#include <ATen/ops/index_select_ops.h>
#include <ATen/ops/sspaddmm_ops.h>

#include "csrc/kernels/cpu/SparseOperator.h"

namespace openreg {

namespace op = at::_ops;

// LITERALINCLUDE START: REGISTER_SPARSE
TORCH_LIBRARY_IMPL(aten, SparsePrivateUse1, m) {
  cpu::sparse_operator<op::_coalesce>(m);
  cpu::sparse_operator<op::_sparse_log_softmax>(m);
  cpu::sparse_operator<op::_sparse_log_softmax_backward_data>(m);
  cpu::sparse_operator<op::_sparse_softmax>(m);
  cpu::sparse_operator<op::_sparse_softmax_backward_data>(m);
  cpu::sparse_operator<op::_sparse_sparse_matmul>(m);
  cpu::sparse_operator<op::_sparse_sum_backward>(m);
  cpu::sparse_operator<op::hspmm>(m);
  cpu::sparse_operator<op::hspmm_out>(m);
  cpu::sparse_operator<op::index_select>(m);
  cpu::sparse_operator<op::sspaddmm_out>(m);
}
// LITERALINCLUDE END: REGISTER_SPARSE

TORCH_LIBRARY_IMPL(aten, SparseCsrPrivateUse1, m) {
  cpu::sparse_operator<op::_sparse_csr_prod_dim_dtype>(m);
  cpu::sparse_operator<op::_sparse_csr_sum_dim_dtype>(m);
}

}  // namespace openreg
