// Makes ranges of numbers; see docs/operators/structured.md.
#include "csrc/aten/meta/RangeFactories.h"

#include <ATen/Operators.h>
#include <ATen/native/UnaryOps.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/kaiser_window.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/logspace.h>
#include <ATen/ops/range.h>

#include "csrc/aten/structured/OutOnly.h"
#include "csrc/kernels/cpu/Launch.h"

namespace openreg {
namespace {

namespace op = at::_ops;
using at::Scalar;
using at::Tensor;

// Calls a function which converts its numbers to the dtype of the output. It is tried
// even for empty outputs.
template <class Function, class... Args>
void call(const char* name, Function function, Tensor& out, const Args&... args) {
  cpu::call(cpu::Options(name, cpu::Precision::Ignored, out.scalar_type()), function,
            args..., out);
}

void linspace(const StructuredCall& op, const Scalar& start, const Scalar& end, int64_t,
              Tensor& out) {
  call(
      op.name,
      [](const Scalar& first, const Scalar& last, Tensor& result) {
        Tensor all = at::empty({result.numel()}, result.options());
        at::linspace_outf(first, last, all.numel(), all);
        result.copy_(all.view(result.sizes()));
      },
      out, start, end);
}

void logspace(const StructuredCall& op, const Scalar& start, const Scalar& end, int64_t,
              double base, Tensor& out) {
  call(
      op.name,
      [](const Scalar& first, const Scalar& last, double number, Tensor& result) {
        Tensor all = at::empty({result.numel()}, result.options());
        at::logspace_outf(first, last, all.numel(), number, all);
        result.copy_(all.view(result.sizes()));
      },
      out, start, end, base);
}

// The output of a trial is smaller, so nothing is written.
void arange(const StructuredCall& op, const Scalar& start, const Scalar& end,
            const Scalar& step, Tensor& out) {
  call(
      op.name,
      [](const Scalar& first, const Scalar& last, const Scalar& distance, int64_t count,
         Tensor& result) {
        at::arange_outf(first, result.numel() == count ? last : first, distance,
                        result);
      },
      out, start, end, step, out.numel());
}

void range(const StructuredCall& op, const Scalar& start, const Scalar& end,
           const Scalar& step, Tensor& out) {
  call(
      op.name,
      [](const Scalar& first, const Scalar& last, const Scalar& distance, int64_t count,
         Tensor& result) {
        Tensor all = at::empty({result.numel()}, result.options());
        at::range_outf(first, result.numel() == count ? last : first, distance, all);
        result.copy_(all.view(result.sizes()));
      },
      out, start, end, step, out.numel());
}

void eye(const StructuredCall& op, int64_t, int64_t, Tensor& out) {
  call(op.name, [](Tensor& result) { result.zero_().diagonal().fill_(1); }, out);
}

// The iterator has the numbers from 0 to `length` - 1, which the window replaces.
void kaiser_window(at::TensorIteratorBase& iterator, int64_t, double beta) {
  Tensor out = iterator.tensor(0);
  call(
      "kaiser_window",
      [](double number, Tensor& result) {
        result.copy_(at::kaiser_window(result.numel(), /*periodic=*/false, number,
                                       result.options()));
      },
      out, beta);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured_out<op::arange_start_out, Arange>(m, arange);
  structured_out<op::linspace_out, Linspace>(m, linspace);
  structured_out<op::logspace_out, Logspace>(m, logspace);
  structured_out<op::range_out, Range>(m, range);
  structured_out<op::eye_m_out, Eye>(m, eye);
}

}  // namespace openreg

namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(kaiser_window_stub, openreg::kaiser_window)
}  // namespace at::native
