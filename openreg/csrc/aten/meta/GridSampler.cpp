// Meta functions that sample images at the places of a grid; see
// docs/operators/meta-functions.md.
#include "csrc/aten/meta/GridSampler.h"

#include <ATen/native/GridSamplerUtils.h>
#include <c10/util/DimVector.h>

namespace openreg {
namespace {

// The sizes of the result. Torch has the checks in a header.
c10::DimVector sampled(const at::Tensor& input, const at::Tensor& grid, int64_t mode,
                       int64_t dims) {
  if (dims == 2) {
    at::native::check_grid_sampler_2d(input, grid);
  } else {
    at::native::check_grid_sampler_3d(input, grid, mode);
  }
  at::native::check_grid_sampler_common(input, grid);
  c10::DimVector sizes(grid.sizes());
  sizes.pop_back();
  sizes.insert(sizes.begin() + 1, input.size(1));
  return sizes;
}

}  // namespace

template <int64_t kDims>
void GridSampler<kDims>::meta(const at::Tensor& input, const at::Tensor& grid,
                              int64_t mode, int64_t, bool) {
  output(0, sampled(input, grid, mode, kDims), input.options());
}

template <int64_t kDims>
void GridSamplerBackward<kDims>::meta(const at::Tensor& grad_output,
                                      const at::Tensor& input, const at::Tensor& grid,
                                      int64_t mode, int64_t, bool,
                                      std::array<bool, 2> output_mask) {
  const c10::DimVector sizes = sampled(input, grid, mode, kDims);
  TORCH_CHECK(grad_output.sizes() == at::IntArrayRef(sizes),
              "grid_sampler(): expected grad_output to have sizes ",
              at::IntArrayRef(sizes), ", but got ", grad_output.sizes());
  if (output_mask[0]) {  // else it takes no memory
    output(0, input.sizes(), input.options());
  }
  output(1, grid.sizes(), grid.options());
}

template struct GridSampler<2>;
template struct GridSampler<3>;
template struct GridSamplerBackward<2>;
template struct GridSamplerBackward<3>;

}  // namespace openreg
