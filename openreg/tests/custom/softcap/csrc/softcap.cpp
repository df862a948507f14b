// Schemas of softcap, and what serves every device; see docs/operators/custom.md.
#include "softcap.h"

#include <ATen/ops/empty_like.h>
#include <torch/library.h>

// LITERALINCLUDE START: SOFTCAP_SCHEMA
TORCH_LIBRARY(softcap, m) {
  m.def("softcap(Tensor x, Tensor bias, float cap) -> Tensor");
  m.def("softcap_backward(Tensor grad, Tensor y, float cap) -> Tensor");
}
// LITERALINCLUDE END: SOFTCAP_SCHEMA

namespace softcap {
namespace {

// The kernel throws for any other dtype, and that would stop the device.
bool is_computed(const at::Tensor& tensor) {
  const at::ScalarType dtype = tensor.scalar_type();
  return dtype == at::kDouble || dtype == at::kFloat || dtype == at::kHalf ||
         dtype == at::kBFloat16;
}

}  // namespace

// LITERALINCLUDE START: SOFTCAP_CHECK
void check(const at::Tensor& x, const at::Tensor& bias, double cap) {
  TORCH_CHECK(x.device() == bias.device(), "softcap: x is on ", x.device(),
              ", but bias is on ", bias.device());
  TORCH_CHECK(is_computed(x) && x.dtype() == bias.dtype(),
              "softcap: x and bias need one dtype, a float of 16 to 64 bits, but have ",
              x.dtype(), " and ", bias.dtype());
  TORCH_CHECK(x.dim() > 0 && bias.dim() == 1,
              "softcap: x needs dimensions, and bias one, but they have ", x.dim(),
              " and ", bias.dim());
  TORCH_SYM_CHECK(x.sym_size(-1).sym_eq(bias.sym_size(0)), "softcap: x has ",
                  x.sym_size(-1), " features, but bias has ", bias.sym_size(0));
  TORCH_CHECK(cap > 0, "softcap: cap must be positive, but is ", cap);
}
// LITERALINCLUDE END: SOFTCAP_CHECK

void check_backward(const at::Tensor& grad, const at::Tensor& y, double cap) {
  TORCH_CHECK(grad.device() == y.device() && grad.dtype() == y.dtype(),
              "softcap_backward: grad is ", grad.dtype(), " on ", grad.device(),
              ", but y is ", y.dtype(), " on ", y.device());
  TORCH_CHECK(is_computed(y), "softcap_backward: expected a float of 16 to 64 bits, ",
              "but got ", y.dtype());
  TORCH_CHECK(grad.sym_sizes() == y.sym_sizes(), "softcap_backward: grad has size ",
              grad.sym_sizes(), ", but y has ", y.sym_sizes());
  TORCH_CHECK(cap > 0, "softcap_backward: cap must be positive, but is ", cap);
}

namespace {

// LITERALINCLUDE START: SOFTCAP_CPU
at::Tensor softcap_cpu(const at::Tensor& x, const at::Tensor& bias, double cap) {
  check(x, bias, cap);
  return x.add(bias).div_(cap).tanh_().mul_(cap).contiguous();
}
// LITERALINCLUDE END: SOFTCAP_CPU

at::Tensor softcap_backward_cpu(const at::Tensor& grad, const at::Tensor& y,
                                double cap) {
  check_backward(grad, y, cap);
  return y.div(cap).square_().neg_().add_(1).mul_(grad).contiguous();
}

// LITERALINCLUDE START: SOFTCAP_META
at::Tensor softcap_meta(const at::Tensor& x, const at::Tensor& bias, double cap) {
  check(x, bias, cap);
  return at::empty_like(x, x.options(), at::MemoryFormat::Contiguous);
}
// LITERALINCLUDE END: SOFTCAP_META

at::Tensor softcap_backward_meta(const at::Tensor& grad, const at::Tensor& y,
                                 double cap) {
  check_backward(grad, y, cap);
  return at::empty_like(y, y.options(), at::MemoryFormat::Contiguous);
}

}  // namespace

TORCH_LIBRARY_IMPL(softcap, CPU, m) {
  m.impl("softcap", &softcap_cpu);
  m.impl("softcap_backward", &softcap_backward_cpu);
}

TORCH_LIBRARY_IMPL(softcap, Meta, m) {
  m.impl("softcap", &softcap_meta);
  m.impl("softcap_backward", &softcap_backward_meta);
}

}  // namespace softcap
