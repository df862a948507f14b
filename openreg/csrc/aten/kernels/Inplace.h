// In-place functions of the kernel library; see docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>

namespace openreg::kernels {

// Calls the in-place function if the output is the first argument. ATen's functions
// with out= refuse a tensor that overlaps itself; some of the in-place ones write to
// it.
template <auto* kOut, auto* kInplace>
struct InplaceOrOut;
template <class... Args, auto* kOut, at::Tensor& (*kInplace)(at::Tensor&, Args...)>
struct InplaceOrOut<kOut, kInplace> {
  static at::Tensor& call(const at::Tensor& self, Args... args, at::Tensor& out) {
    return self.is_same(out) ? kInplace(out, args...) : kOut(self, args..., out);
  }
};

}  // namespace openreg::kernels
