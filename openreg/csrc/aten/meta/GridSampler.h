// Meta functions that sample images at the places of a grid; see
// docs/operators/meta-functions.md.
#pragma once

#include <array>

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

// Of images (2) or volumes (3).
template <int64_t kDims>
struct GridSampler : MetaFunction {
  void meta(const at::Tensor& input, const at::Tensor& grid, int64_t mode,
            int64_t padding, bool align_corners);
};

template <int64_t kDims>
struct GridSamplerBackward : MetaFunction {
  void meta(const at::Tensor& grad_output, const at::Tensor& input,
            const at::Tensor& grid, int64_t mode, int64_t padding, bool align_corners,
            std::array<bool, 2> output_mask);
};

}  // namespace openreg
