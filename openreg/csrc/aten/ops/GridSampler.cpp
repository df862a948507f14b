// Samples images at the places of a grid; see docs/operators/structured.md.
#include "csrc/aten/NativeLayers.h"

#include <ATen/native/GridSamplerUtils.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/grid_sampler_2d.h>
#include <ATen/ops/grid_sampler_2d_backward.h>
#include <ATen/ops/grid_sampler_3d.h>
#include <ATen/ops/grid_sampler_3d_backward.h>

#include "csrc/kernels/cpu/Functions.h"
#include "csrc/aten/launch/LaunchOut.h"
#include "csrc/aten/launch/OptionalTensor.h"

namespace openreg {
namespace {

using TwoTensors = std::tuple<at::Tensor, at::Tensor>;

// Torch has the checks of the sizes in a header.
void check(const at::Tensor& input, const at::Tensor& grid, int64_t mode,
           int64_t dims) {
  if (dims == 2) {
    at::native::check_grid_sampler_2d(input, grid);
  } else {
    at::native::check_grid_sampler_3d(input, grid, mode);
  }
  at::native::check_grid_sampler_common(input, grid);
}

template <int64_t kDims, auto* kFunction>
at::Tensor sample_forward(const at::Tensor& input, const at::Tensor& grid, int64_t mode,
                          int64_t padding, bool align_corners) {
  check(input, grid, mode, kDims);
  c10::DimVector sizes(grid.sizes());
  sizes.pop_back();
  sizes.insert(sizes.begin() + 1, input.size(1));
  const at::Tensor out = at::empty(sizes, input.options());
  launch_out(kDims == 2 ? "grid_sampler_2d" : "grid_sampler_3d", cpu::out_variant<kFunction>,
             std::array{out}, input, grid, mode, padding, align_corners);
  return out;
}

template <int64_t kDims, auto* kFunction>
TwoTensors sample_backward(const at::Tensor& grad_output, const at::Tensor& input,
                           const at::Tensor& grid, int64_t mode, int64_t padding,
                           bool align_corners, std::array<bool, 2> mask) {
  check_same_device("grid_sampler_backward", grad_output, input, grid);
  check(input, grid, mode, kDims);
  c10::DimVector sizes(grid.sizes());
  sizes.pop_back();
  sizes.insert(sizes.begin() + 1, input.size(1));
  TORCH_CHECK(grad_output.sizes() == at::IntArrayRef(sizes),
              "grid_sampler(): expected grad_output to have sizes ",
              at::IntArrayRef(sizes), ", but got ", grad_output.sizes());
  // A gradient that is not needed takes no memory, and is not returned.
  const at::Tensor grad_input =
      mask[0] ? at::empty_like(input, at::MemoryFormat::Contiguous)
              : at::empty({0}, input.options());
  const at::Tensor grad_grid = at::empty_like(grid, at::MemoryFormat::Contiguous);
  launch_out(kDims == 2 ? "grid_sampler_2d_backward" : "grid_sampler_3d_backward",
             cpu::out_variant<kFunction>, std::array{grad_input, grad_grid}, grad_output,
             input, grid, mode, padding, align_corners, mask);
  return {mask[0] ? grad_input : at::Tensor(), grad_grid};
}

}  // namespace

void register_grid_sampler(torch::Library& m) {
  m.impl("grid_sampler_2d", &sample_forward<2, at::grid_sampler_2d>);
  m.impl("grid_sampler_3d", &sample_forward<3, at::grid_sampler_3d>);
  m.impl("grid_sampler_2d_backward", &sample_backward<2, at::grid_sampler_2d_backward>);
  m.impl("grid_sampler_3d_backward", &sample_backward<3, at::grid_sampler_3d_backward>);
}

}  // namespace openreg
