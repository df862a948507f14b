// Finds places in sorted values; see docs/operators/structured.md.
#include "csrc/aten/meta/Bucketization.h"

#include <ATen/Operators.h>
#include <ATen/ops/result_type.h>
#include <ATen/ops/searchsorted.h>

#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {
namespace {

namespace op = at::_ops;

using at::Tensor;

// ATen's kernel does not convert bool.
Tensor& searchsorted(const Tensor& sorted, const Tensor& self, bool out_int32,
                     bool right, std::optional<std::string_view> side,
                     const std::optional<Tensor>& sorter, Tensor& out) {
  const bool converts =
      sorted.scalar_type() != self.scalar_type() &&
      (sorted.scalar_type() == at::kBool || self.scalar_type() == at::kBool);
  const at::ScalarType dtype = at::result_type(sorted, self);
  return at::searchsorted_outf(converts ? sorted.to(dtype) : sorted,
                               converts ? self.to(dtype) : self, out_int32, right, side,
                               sorter, out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu<op::searchsorted_Tensor, op::searchsorted_Tensor_out, SearchSorted,
              searchsorted>(m);
}

}  // namespace openreg
