// add: a structured operator; see docs/operators/kernel.md.
#include "csrc/aten/NativeFunctions.h"

#include <ATen/Dispatch.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/add_meta.h>

#include "csrc/aten/kernels/Elementwise.h"
#include "csrc/aten/launch/KernelTensorArg.h"
#include "csrc/aten/launch/Launch.h"
#include "csrc/runtime/device/OpenRegFunctions.h"
#include "csrc/runtime/device/OpenRegGuard.h"

namespace openreg {
namespace {

// LITERALINCLUDE START: ADD_META
// ATen's own meta function checks the arguments and works out the shape, the strides
// and the dtype of the result. It gets the tensor from its subclass.
struct Add final : at::meta::structured_add_Tensor {
  at::Tensor out;  // undefined: make one

  const at::Tensor& maybe_get_output(int64_t) override { return out; }

  void set_output_raw_strided(int64_t index, at::IntArrayRef sizes,
                              at::IntArrayRef strides,
                              at::TensorOptions options) override {
    if (!out.defined()) {
      const auto dtype = options.dtype().toScalarType();
      const auto device = options.device();
      out = strides.empty()
                ? empty(sizes, dtype, {}, device, {}, options.memory_format_opt())
                : empty_strided(sizes, strides, dtype, {}, device, {});
    } else if (at::native::resize_output(out, sizes) && !strides.empty()) {
      out.as_strided_(sizes, strides);
    }
    structured_add_Tensor::set_output_raw_strided(index, sizes, strides, options);
  }
};
// LITERALINCLUDE END: ADD_META

// Throws what the CPU throws, before a kernel does: for a dtype without addition, and
// for a number that does not fit into the dtype.
void check_alpha(const at::Scalar& alpha, at::ScalarType dtype) {
  AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND4(at::kComplexHalf, at::kBool, at::kHalf,
                                         at::kBFloat16, dtype, "add_stub",
                                         [&] { alpha.to<scalar_t>(); });
}

// The index of the first tensor on an openreg device: one of them is.
DeviceIndex device_of(const at::Tensor& out, const at::Tensor& self,
                      const at::Tensor& other) {
  const bool in_out = out.defined() && out.is_privateuseone();
  const at::Tensor& first = in_out ? out : self.is_privateuseone() ? self : other;
  return first.device().index();
}

// LITERALINCLUDE START: ADD_RUN
at::Tensor run(Add op, const at::Tensor& self, const at::Tensor& other,
               const at::Scalar& alpha) {
  const OpenRegGuard scope(device_of(op.out, self, other));  // allocates there
  op.meta(self, other, alpha);                               // (1)
  const at::ScalarType dtype = op.common_dtype();
  check_alpha(alpha, dtype);  // (2)
  if (op.out.numel() > 0) {   // (3)
    launch("add", op.out.device(),
           [out = KernelTensorArg(op.out), a = KernelTensorArg::input(self),
            b = KernelTensorArg::input(other), alpha, dtype] {               // (4)
             kernels::add(a.alias(), b.alias(), alpha, dtype, out.alias());  // (5)
           });
  }
  return op.out;  // (6)
}
// LITERALINCLUDE END: ADD_RUN

}  // namespace

// LITERALINCLUDE START: ADD_VARIANTS
at::Tensor add(const at::Tensor& self, const at::Tensor& other,
               const at::Scalar& alpha) {
  return run({}, self, other, alpha);
}

at::Tensor& add_(at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha) {
  Add op;
  op.out = self;
  run(std::move(op), self, other, alpha);
  return self;
}
// LITERALINCLUDE END: ADD_VARIANTS

at::Tensor& add_out(const at::Tensor& self, const at::Tensor& other,
                    const at::Scalar& alpha, at::Tensor& out) {
  Add op;
  op.out = out;
  run(std::move(op), self, other, alpha);
  return out;
}

}  // namespace openreg
