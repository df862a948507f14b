// Meta functions of products that check more than ATen's, which leave it to the kernel;
// see docs/operators/meta-functions.md.
#pragma once

#include <ATen/ExpandUtils.h>
#include <ATen/ops/mm_meta.h>

#include <array>
#include <tuple>

namespace openreg {

// Torch's meta function leaves the dtypes to the kernel.
// LITERALINCLUDE START: MM_META
struct Mm : at::meta::structured_mm {
  void meta(const at::Tensor& self, const at::Tensor& mat2) {
    structured_mm::meta(self, mat2);
    TORCH_CHECK(self.dtype() == mat2.dtype(),
                "expected m1 and m2 to have the same dtype, but got: ", self.dtype(),
                " != ", mat2.dtype());
  }
};
// LITERALINCLUDE END: MM_META

// Torch's meta function leaves the sizes of `self` to the kernel.
template <class Meta>
struct Addmm : Meta {
  template <class... Args>
  void meta(const at::Tensor& self, const at::Tensor& mat1, const at::Tensor& mat2,
            const Args&... args) {
    Meta::meta(self, mat1, mat2, args...);
    const std::array<int64_t, 2> sizes{mat1.size(0), mat2.size(1)};
    if (!at::is_expandable_to(self.sizes(), sizes)) {
      std::ignore = at::expand_size(self, sizes, "addmm_out");  // throws
    }
  }
};

}  // namespace openreg
