// The cosine similarity; see docs/operators/autograd-function.md.
#include "csrc/aten/meta/CosineSimilarity.h"

#include <ATen/Operators.h>
#include <ATen/ops/cosine_similarity.h>

#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {

namespace op = at::_ops;

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu_without_out<op::cosine_similarity, CosineSimilarity,
                          cpu::out_variant<at::cosine_similarity>>(m);
}

}  // namespace openreg
