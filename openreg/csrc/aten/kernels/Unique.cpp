// Kernels that find distinct values; see docs/operators/structured.md.
#include "csrc/aten/kernels/Unique.h"

#include <ATen/ops/_unique2.h>
#include <ATen/ops/unique_consecutive.h>
#include <ATen/ops/unique_dim.h>
#include <ATen/ops/unique_dim_consecutive.h>

namespace openreg::kernels {
namespace {

// Writes the results of one of ATen's functions to the outputs of a kernel.
UniqueOutputs write_distinct(
    const std::tuple<at::Tensor, at::Tensor, at::Tensor>& results, at::Tensor& number,
    at::Tensor& values, at::Tensor& places, at::Tensor& times) {
  const auto& [found, where, how_often] = results;
  number.fill_(found.size(0));
  values.narrow(0, 0, found.size(0)).copy_(found);
  if (places.numel() > 0) {
    places.copy_(where);
  }
  if (times.numel() > 0) {
    times.narrow(0, 0, how_often.size(0)).copy_(how_often);
  }
  return {number, values, places, times};
}

// The results of a function that finds slices along `dim`, with `dim` as the first
// dimension.
std::tuple<at::Tensor, at::Tensor, at::Tensor> slices_first(
    std::tuple<at::Tensor, at::Tensor, at::Tensor> results, int64_t dim) {
  std::get<0>(results) = std::get<0>(results).movedim(dim, 0);
  return results;
}

}  // namespace

UniqueOutputs unique2_out(const at::Tensor& self, int64_t, bool sorted, bool inverse,
                          bool counts, at::Tensor& number, at::Tensor& values,
                          at::Tensor& places, at::Tensor& times) {
  return write_distinct(at::_unique2(self, sorted, inverse, counts), number, values,
                        places, times);
}

UniqueOutputs unique_consecutive_out(const at::Tensor& self, int64_t, bool,
                                     bool inverse, bool counts, at::Tensor& number,
                                     at::Tensor& values, at::Tensor& places,
                                     at::Tensor& times) {
  return write_distinct(at::unique_consecutive(self, inverse, counts), number, values,
                        places, times);
}

UniqueOutputs unique_dim_out(const at::Tensor& self, int64_t dim, bool sorted,
                             bool inverse, bool counts, at::Tensor& number,
                             at::Tensor& values, at::Tensor& places,
                             at::Tensor& times) {
  return write_distinct(
      slices_first(at::unique_dim(self, dim, sorted, inverse, counts), dim), number,
      values, places, times);
}

UniqueOutputs unique_dim_consecutive_out(const at::Tensor& self, int64_t dim, bool,
                                         bool inverse, bool counts, at::Tensor& number,
                                         at::Tensor& values, at::Tensor& places,
                                         at::Tensor& times) {
  return write_distinct(
      slices_first(at::unique_dim_consecutive(self, dim, inverse, counts), dim), number,
      values, places, times);
}

}  // namespace openreg::kernels
