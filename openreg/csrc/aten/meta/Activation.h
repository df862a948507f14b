// Meta functions of activations and losses that check more than ATen's, which leave it
// to the kernel; see docs/operators/meta-functions.md.
#pragma once

#include <ATen/native/Activation.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu_backward_meta.h>
#include <ATen/ops/gelu_meta.h>
#include <ATen/ops/relu.h>

#include "csrc/aten/structured/Pointwise.h"

namespace openreg {

// torch's meta functions leave the text to the kernel.
struct Gelu : at::meta::structured_gelu {
  void meta(const at::Tensor& self, std::string_view approximate) {
    at::native::get_gelutype_enum(approximate);
    structured_gelu::meta(self, approximate);
  }
};
struct GeluBackward : at::meta::structured_gelu_backward {
  void meta(const at::Tensor& grad, const at::Tensor& self,
            std::string_view approximate) {
    at::native::get_gelutype_enum(approximate);
    structured_gelu_backward::meta(grad, self, approximate);
  }
};

struct Relu : Pointwise {
  void meta(const at::Tensor& self) {
    if (self.scalar_type() == at::kBool) {
      at::relu(at::empty({0}, at::kBool));  // raises; the class depends on the release
    }
    Pointwise::meta(self);
  }
};

// The CPU kernel does not convert dtypes, unlike the kernels of the other losses.
struct HuberBackward : Pointwise {
  template <class... Args>
  void meta(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& target,
            const Args&...) {
    const at::ScalarType dtype = self.scalar_type();
    for (const at::Tensor* tensor : {&grad, &target}) {
      TORCH_CHECK(tensor->scalar_type() == dtype, "Found dtype ", tensor->scalar_type(),
                  " but expected ", dtype);
    }
    Pointwise::meta(grad, self, target);
  }
};

}  // namespace openreg
