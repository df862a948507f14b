// What the files of this package share; see docs/operators/custom.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace softcap {

// Each throws unless the arguments of its operator fit together. They see sizes that
// are also symbols.
void check(const at::Tensor& x, const at::Tensor& bias, double cap);
void check_backward(const at::Tensor& grad, const at::Tensor& y, double cap);

}  // namespace softcap
