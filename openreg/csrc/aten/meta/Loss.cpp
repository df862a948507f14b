// Meta functions of losses that compare two tensors and reduce; see
// docs/operators/meta-functions.md.
#include "csrc/aten/meta/Loss.h"

#include <ATen/ExpandUtils.h>
#include <ATen/TensorIterator.h>
#include <ATen/core/Reduction.h>
#include <ATen/ops/binary_cross_entropy.h>
#include <ATen/ops/result_type.h>
#include <c10/util/DimVector.h>

#include "csrc/aten/common/TensorArguments.h"
#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

void check_cast(at::ScalarType from, at::ScalarType to) {
  TORCH_CHECK(at::canCast(from, to), "result type ", from,
              " can't be cast to the desired output type ", to);
}

}  // namespace

// A loss without reduction has shape and memory format of an operation on both tensors,
// any other is one number.
void Loss::loss(const char* name, const at::Tensor& self, const at::Tensor& target,
                int64_t reduction, at::ScalarType dtype) {
  TORCH_CHECK_VALUE(reduction >= 0 && reduction < at::Reduction::END, name,
                    ": reduction must be 0 (none), 1 (mean) or 2 (sum), not ",
                    reduction);
  const at::Tensor& given = maybe_get_output(0);
  if (given.defined()) {
    check_cast(dtype, given.scalar_type());
    dtype = given.scalar_type();
  }
  c10::DimVector sizes, strides;
  if (reduction != at::Reduction::None) {
    at::infer_size_dimvector(self.sizes(), target.sizes());  // throws
  } else {
    at::Tensor undefined;
    const auto iterator = at::TensorIterator::binary_op(undefined, self, target);
    sizes = iterator.output().sizes();
    strides = iterator.output().strides();
  }
  set_output_raw_strided(0, sizes, strides, self.options().dtype(dtype));
}

void MseLoss::meta(const at::Tensor& self, const at::Tensor& target,
                   int64_t reduction) {
  loss("mse_loss", self, target, reduction, at::result_type(self, target));
}

void SmoothL1Loss::meta(const at::Tensor& self, const at::Tensor& target,
                        int64_t reduction, double beta) {
  TORCH_CHECK(beta >= 0, "smooth_l1_loss does not support negative values for beta.");
  loss("smooth_l1_loss", self, target, reduction, at::result_type(self, target));
}

void HuberLoss::meta(const at::Tensor& self, const at::Tensor& target,
                     int64_t reduction, double delta) {
  TORCH_CHECK(delta > 0, "huber_loss does not support non-positive values for delta.");
  check_cast(at::result_type(self, target), self.scalar_type());
  loss("huber_loss", self, target, reduction, self.scalar_type());
}

void BinaryCrossEntropy::meta(const at::Tensor& self, const at::Tensor& target,
                              const std::optional<at::Tensor>& weight,
                              int64_t reduction) {
  if (is_given(weight)) {
    const auto sizes = at::infer_size_dimvector(self.sizes(), weight->sizes());
    TORCH_CHECK(at::IntArrayRef(sizes) == self.sizes(), "output with shape ",
                self.sizes(), " doesn't match the broadcast shape ",
                at::IntArrayRef(sizes));
  }
  check_arguments(self.sizes() == target.sizes(), [&] {
    at::binary_cross_entropy(zeros_for(self), zeros_for(target), zeros_for(weight),
                             reduction);
  });
  loss("binary_cross_entropy", self, target, reduction, at::result_type(self, target));
}

}  // namespace openreg
