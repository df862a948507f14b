// Small tensors that stand for large ones in a trial; see
// docs/operators/borrowed-kernels.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/DimVector.h>
#include <c10/util/SmallVector.h>

#include <cstdint>

#include "csrc/Export.h"

namespace openreg::cpu {

// Maps the sizes of one call to small ones: what is equal stays equal, and what is
// larger stays larger, because ATen chooses its code by that too.
class OPENREG_EXPORT Shrink {
 public:
  // What is to be mapped, before the first call of a function below.
  void add(const at::Tensor& tensor);
  void add(at::IntArrayRef numbers);
  void end_of_arguments();

  c10::DimVector small(at::IntArrayRef sizes) const;
  // A CPU tensor of zeros with the dtype of `tensor`, undefined if it is.
  at::Tensor small(const at::Tensor& tensor) const;

 private:
  int64_t small(int64_t size) const;

  c10::SmallVector<int64_t, 8> large_;  // sorted, each once
  bool is_needed_ = false;
};

}  // namespace openreg::cpu
