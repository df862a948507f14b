// Reductions without a structured meta function; see docs/operators/structured.md.
#include "csrc/aten/meta/Reduce.h"

#include <ATen/Operators.h>
#include <ATen/ops/dot.h>
#include <ATen/ops/kthvalue.h>
#include <ATen/ops/max.h>
#include <ATen/ops/min.h>
#include <ATen/ops/mode.h>
#include <ATen/ops/std.h>
#include <ATen/ops/var.h>

#include "csrc/aten/structured/OutOnly.h"
#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {
namespace {

namespace op = at::_ops;
using at::Tensor;

using UnaryFunction = Tensor(const Tensor&);
constexpr UnaryFunction* kMax = at::max;
constexpr UnaryFunction* kMin = at::min;
constexpr Variance::OnHost* kVar = at::var_outf;
constexpr Variance::OnHost* kStd = at::std_outf;

using KthvalueFunction = std::tuple<Tensor&, Tensor&>(const Tensor&, int64_t, int64_t,
                                                      bool, Tensor&, Tensor&);
constexpr KthvalueFunction* kKthvalue = at::kthvalue_outf;

// The CPU's kernel does not reduce a whole tensor of low precision to a wider number.
template <Variance::OnHost* kFunction>
Tensor& widened(const Tensor& self, at::OptionalIntArrayRef dim,
                const std::optional<at::Scalar>& correction, bool keepdim,
                Tensor& out) {
  const bool widens = at::isReducedFloatingType(self.scalar_type()) &&
                      !at::isReducedFloatingType(out.scalar_type());
  return kFunction(widens ? self.to(out.scalar_type()) : self, dim, correction, keepdim,
                   out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu<op::max, op::max_unary_out, Max, cpu::out_variant<kMax>>(m);
  cpu::on_cpu<op::min, op::min_unary_out, Min, cpu::out_variant<kMin>>(m);
  cpu::on_cpu<op::var_correction, op::var_correction_out, Var,
              cpu::without_warnings<widened<kVar>>>(m);
  cpu::on_cpu<op::std_correction, op::std_correction_out, Std,
              cpu::without_warnings<widened<kStd>>>(m);
  cpu::on_cpu_without_out<op::dot, Dot, cpu::out_variant<at::dot>>(m);
  cpu::on_cpu<op::mode, op::mode_values, Mode, at::mode_outf>(m);
  structured_out<op::kthvalue_values, Kthvalue>(m, cpu::OnCpu<kKthvalue>());
}

}  // namespace openreg
