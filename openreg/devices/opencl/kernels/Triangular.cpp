// The triangles of matrices; see docs/opencl/kernels.md.
#include <ATen/ops/tril_meta.h>
#include <ATen/ops/tril_ops.h>
#include <ATen/ops/triu_meta.h>
#include <ATen/ops/triu_ops.h>

#include "csrc/kernels/IndexingPlacement.h"
#include "csrc/kernels/opencl/Fallback.h"

namespace ocl::opencl {
namespace {

namespace op = at::_ops;
using at::Tensor;

constexpr const char* kTriangle = R"(
kernel void triangle(global ELEMENT* out, global const ELEMENT* in, long rows,
                     long columns, long diagonal, long upper, Placement placement) {
  const long n = get_global_id(0);
  const Places places = places_of(&placement, n);
  const long over = n % columns - n / columns % rows - diagonal;
  const bool kept = upper ? over >= 0 : over <= 0;
  out[places.at[0]] = kept ? in[places.at[1]] : (ELEMENT)0;
}
)";

template <int64_t kUpper>
bool triangle(const Tensor& self, int64_t diagonal, const Tensor& out) {
  static const auto* const text = new std::string(join({kPlacement, kTriangle}));
  const auto placement = placement_of(out, self);
  if (placement) {
    launch(Source{text->c_str()}, "triangle", define_element(out),
           Range({placement->count}), writes(out), self, self.size(-2), self.size(-1),
           diagonal, kUpper, *placement);
  }
  return placement.has_value();
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured_or_fall_back<op::tril, op::tril_out, at::meta::structured_tril>(
      m, triangle<0>);
  structured_or_fall_back<op::triu, op::triu_out, at::meta::structured_triu>(
      m, triangle<1>);
}

}  // namespace
}  // namespace ocl::opencl
