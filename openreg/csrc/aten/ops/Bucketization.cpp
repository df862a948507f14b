// Places in sorted values; see docs/operators/structured.md.
#include "csrc/aten/NativeFunctions.h"

#include <ATen/native/BucketizationUtils.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/searchsorted.h>

#include "csrc/aten/launch/LaunchOut.h"
#include "csrc/aten/launch/OptionalTensor.h"
#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

using Side = std::optional<std::string_view>;
using Sorter = std::optional<at::Tensor>;

// Torch has the checks in a header; for a sorter the host waits there.
at::Tensor places_in(const at::Tensor& sorted, const at::Tensor& self, bool out_int32,
                     bool right, Side side, const Sorter& sorter) {
  const at::Tensor out =
      at::empty(self.sizes(), self.options().dtype(out_int32 ? at::kInt : at::kLong));
  at::native::searchsorted_pre_check(sorted, self, out, out_int32, right, side,
                                     or_undefined(sorter));
  if (sorted.scalar_type() != self.scalar_type() &&
      (sorted.scalar_type() == at::kBool || self.scalar_type() == at::kBool)) {
    const at::ScalarType dtype = at::result_type(sorted, self);
    return places_in(sorted.to(dtype), self.to(dtype), out_int32, right, side, sorter);
  }
  launch_out("searchsorted",
             static_cast<at::Tensor& (*)(const at::Tensor&, const at::Tensor&, bool,
                                         bool, Side, const Sorter&, at::Tensor&)>(
                 at::searchsorted_outf),
             std::array{out}, sorted, self, out_int32, right, side, sorter);
  return out;
}

at::Tensor& searchsorted_out(const at::Tensor& sorted, const at::Tensor& self,
                             bool out_int32, bool right, Side side,
                             const Sorter& sorter, at::Tensor& out) {
  at::native::searchsorted_pre_check(sorted, self, out, out_int32, right, side,
                                     or_undefined(sorter));
  return write_out(places_in(sorted, self, out_int32, right, side, sorter), out);
}

at::Tensor searchsorted_scalar(const at::Tensor& sorted, const at::Scalar& self,
                               bool out_int32, bool right, Side side,
                               const Sorter& sorter) {
  return places_in(sorted,
                   at::native::searchsorted_scalar_tensor(self, sorted.device()),
                   out_int32, right, side, sorter);
}

at::Tensor& searchsorted_scalar_out(const at::Tensor& sorted, const at::Scalar& self,
                                    bool out_int32, bool right, Side side,
                                    const Sorter& sorter, at::Tensor& out) {
  return searchsorted_out(sorted,
                          at::native::searchsorted_scalar_tensor(self, sorted.device()),
                          out_int32, right, side, sorter, out);
}

void check_boundaries(const at::Tensor& boundaries) {
  TORCH_CHECK(boundaries.dim() == 1, "boundaries tensor must be 1 dimension, but got ",
              "dim(", boundaries.dim(), ")");
}

at::Tensor bucketize(const at::Tensor& self, const at::Tensor& boundaries,
                     bool out_int32, bool right) {
  check_boundaries(boundaries);
  return places_in(boundaries, self, out_int32, right, std::nullopt, std::nullopt);
}

at::Tensor& bucketize_out(const at::Tensor& self, const at::Tensor& boundaries,
                          bool out_int32, bool right, at::Tensor& out) {
  check_boundaries(boundaries);
  return searchsorted_out(boundaries, self, out_int32, right, std::nullopt,
                          std::nullopt, out);
}

at::Tensor bucketize_scalar(const at::Scalar& self, const at::Tensor& boundaries,
                            bool out_int32, bool right) {
  return bucketize(at::native::searchsorted_scalar_tensor(self, boundaries.device()),
                   boundaries, out_int32, right);
}

}  // namespace

void register_bucketization(torch::Library& m) {
  m.impl("searchsorted.Tensor", places_in);
  m.impl("searchsorted.Tensor_out", searchsorted_out);
  m.impl("searchsorted.Scalar", searchsorted_scalar);
  m.impl("searchsorted.Scalar_out", searchsorted_scalar_out);
  m.impl("bucketize.Tensor", bucketize);
  m.impl("bucketize.Tensor_out", bucketize_out);
  m.impl("bucketize.Scalar", bucketize_scalar);
}

}  // namespace openreg
