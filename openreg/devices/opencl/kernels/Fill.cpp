// fill_ with a number; see docs/opencl/kernels.md.
#include <ATen/ops/fill_ops.h>
#include <torch/library.h>

#include "csrc/aten/ops/CheckScalar.h"
#include "csrc/kernels/opencl/Fallback.h"
#include "csrc/kernels/opencl/Iterator.h"
#include "csrc/runtime/device/OclGuard.h"

namespace ocl::opencl::fill {
namespace {

at::Tensor& fill_(at::Tensor& self, const at::Scalar& value) {
  const OclGuard guard(self.device().index());
  at::TensorIterator iterator = at::TensorIteratorConfig()
                                    .set_check_mem_overlap(false)
                                    .check_all_same_dtype(false)
                                    .add_output(self)
                                    .resize_outputs(false)
                                    .build();
  if (value.isComplex() || !takes(iterator)) {
    return fall_back<at::_ops::fill__Scalar>(self, value);
  }
  check_scalar(value, self.scalar_type());
  if (self.numel() > 0) {
    pointwise(iterator, {"p"}, {value});
  }
  return self;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("fill_.Scalar", fill_); }

}  // namespace
}  // namespace ocl::opencl::fill
