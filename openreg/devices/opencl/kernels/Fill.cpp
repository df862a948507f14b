// fill_ with a number; see docs/opencl/kernels.md.
#include <ATen/ops/fill_ops.h>
#include <ATen/ops/view_as_real.h>
#include <torch/library.h>

#include "csrc/aten/ops/CheckScalar.h"
#include "csrc/kernels/opencl/Fallback.h"
#include "csrc/kernels/opencl/Iterator.h"
#include "csrc/runtime/device/OclGuard.h"

namespace ocl::opencl::fill {
namespace {

// Complex numbers are pairs of real ones.
void fill_complex(const at::Tensor& self, const c10::complex<double>& value) {
  at::Tensor plain = self.detach();
  plain._set_conj(false);
  const at::Tensor pairs = at::view_as_real(plain);
  pairs.select(-1, 0).fill_(value.real());
  pairs.select(-1, 1).fill_(self.is_conj() ? -value.imag() : value.imag());
}

at::Tensor& fill_(at::Tensor& self, const at::Scalar& value) {
  const OclGuard guard(self.device().index());
  if (self.is_complex() && !self.is_neg()) {
    check_scalar(value, self.scalar_type());
    fill_complex(self, value.to<c10::complex<double>>());
    return self;
  }
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
