// Operators that are made of other operators, which torch registers for its own devices
// only; see docs/operators/registration.md.
#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/ScalarOps.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index.h>
#include <ATen/ops/isin.h>
#include <torch/library.h>

#include "csrc/aten/TensorArguments.h"

namespace openreg {
namespace {

// As on CUDA: an index that is a mask. The host waits for the number of elements.
at::Tensor& masked_select_out(const at::Tensor& self, const at::Tensor& mask,
                              at::Tensor& out) {
  check_same_device("masked_select", out, self, mask);
  TORCH_CHECK(mask.scalar_type() == at::kBool,
              "masked_select: expected BoolTensor for mask");
  TORCH_CHECK(self.scalar_type() == out.scalar_type(),
              "masked_select(): self and result must have the same scalar type");
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  at::assert_no_overlap(out, mask);
  const auto [where, from] = at::expand_outplace(mask, self);
  const bool is_scalar = from->dim() == 0;
  return at::index_outf(
      is_scalar ? from->unsqueeze(0) : *from,
      c10::List<std::optional<at::Tensor>>({is_scalar ? where->unsqueeze(0) : *where}),
      out);
}

at::Tensor masked_select(const at::Tensor& self, const at::Tensor& mask) {
  at::Tensor out = at::empty({0}, self.options());
  return masked_select_out(self, mask, out);
}

// Torch's meta function allocates a vector for the answer about one number, and its
// kernels of the CPU and of CUDA resize it. A launched kernel cannot.
at::Tensor isin_scalar(const at::Scalar& element, const at::Tensor& tests,
                       bool assume_unique, bool invert) {
  return at::isin(c10::scalar_to_tensor(element, tests.device()), tests, assume_unique,
                  invert);
}

at::Tensor& isin_scalar_out(const at::Scalar& element, const at::Tensor& tests,
                            bool assume_unique, bool invert, at::Tensor& out) {
  return at::isin_outf(c10::scalar_to_tensor(element, tests.device()), tests,
                       assume_unique, invert, out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("isin.Scalar_Tensor", isin_scalar);
  m.impl("isin.Scalar_Tensor_out", isin_scalar_out);
  m.impl("masked_select", masked_select);
  m.impl("masked_select.out", masked_select_out);
}

}  // namespace openreg
