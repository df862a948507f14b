// Kernels that find distinct values; see docs/operators/meta-functions.md.
#include "csrc/kernels/Unique.h"

#include <ATen/ops/_unique2.h>
#include <ATen/ops/unique_consecutive.h>
#include <ATen/ops/unique_dim.h>
#include <ATen/ops/unique_dim_consecutive.h>
#include <torch/library.h>

#include <tuple>

#include "csrc/kernels/cpu/Launch.h"

namespace openreg::kernels {
namespace {

using at::Tensor;
using ThreeTensors = std::tuple<Tensor, Tensor, Tensor>;

// Functions of ATen with the same parameters. Slices are found with `dim` as the first
// dimension.
ThreeTensors find_unique2(const Tensor& self, int64_t, bool sorted, bool inverse,
                          bool counts) {
  return at::_unique2(self, sorted, inverse, counts);
}

ThreeTensors find_unique_consecutive(const Tensor& self, int64_t, bool, bool inverse,
                                     bool counts) {
  return at::unique_consecutive(self, inverse, counts);
}

ThreeTensors find_unique_dim(const Tensor& self, int64_t dim, bool sorted, bool inverse,
                             bool counts) {
  auto [found, places, times] = at::unique_dim(self, dim, sorted, inverse, counts);
  return {found.movedim(dim, 0), places, times};
}

ThreeTensors find_unique_dim_consecutive(const Tensor& self, int64_t dim, bool,
                                         bool inverse, bool counts) {
  auto [found, places, times] = at::unique_dim_consecutive(self, dim, inverse, counts);
  return {found.movedim(dim, 0), places, times};
}

// On the device: writes the results of such a function.
template <auto* kFind>
void write_distinct(const Tensor& self, int64_t dim, bool sorted, bool inverse,
                    bool counts, Tensor& number, Tensor& values, Tensor& places,
                    Tensor& times) {
  const auto [found, where, how_often] = kFind(self, dim, sorted, inverse, counts);
  number.fill_(found.size(0));
  values.narrow(0, 0, found.size(0)).copy_(found);
  if (places.numel() > 0) {
    places.copy_(where);
  }
  if (times.numel() > 0) {
    times.narrow(0, 0, how_often.size(0)).copy_(how_often);
  }
}

}  // namespace

void unique2(const Tensor& self, int64_t dim, bool sorted, bool inverse, bool counts,
             const Tensor& number, const Tensor& values, const Tensor& places,
             const Tensor& times) {
  cpu::call("_unique2", write_distinct<find_unique2>, self, dim, sorted, inverse,
            counts, number, values, places, times);
}

void unique_consecutive(const Tensor& self, int64_t dim, bool sorted, bool inverse,
                        bool counts, const Tensor& number, const Tensor& values,
                        const Tensor& places, const Tensor& times) {
  cpu::call("unique_consecutive", write_distinct<find_unique_consecutive>, self, dim,
            sorted, inverse, counts, number, values, places, times);
}

void unique_dim(const Tensor& self, int64_t dim, bool sorted, bool inverse, bool counts,
                const Tensor& number, const Tensor& values, const Tensor& places,
                const Tensor& times) {
  cpu::call("unique_dim", write_distinct<find_unique_dim>, self, dim, sorted, inverse,
            counts, number, values, places, times);
}

void unique_dim_consecutive(const Tensor& self, int64_t dim, bool sorted, bool inverse,
                            bool counts, const Tensor& number, const Tensor& values,
                            const Tensor& places, const Tensor& times) {
  cpu::call("unique_dim_consecutive", write_distinct<find_unique_dim_consecutive>, self,
            dim, sorted, inverse, counts, number, values, places, times);
}

}  // namespace openreg::kernels
