// What a launch checks of its arguments; see docs/operators/borrowed-kernels.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <cstdint>
#include <string_view>

#include "csrc/Export.h"
#include "csrc/kernels/cpu/TensorArg.h"

namespace openreg::cpu {

// The arguments of one launch: their device, and which dtypes they have.
class OPENREG_EXPORT Operands {
 public:
  // `common`: the dtype in which an iterator computes, or Undefined.
  explicit Operands(at::ScalarType common = at::ScalarType::Undefined)
      : common_(common) {}

  // Throws the error of torch's kernels for tensors on two devices. Torch checks this
  // for generated kernels, but not for kernels that a backend registers.
  void add(const at::Tensor& tensor, Access access);
  void add(const at::Scalar& number);
  void add(std::string_view mode);
  // A flag, a dimension, a mode: small numbers choose code, and large ones are sizes.
  void add_choice(int64_t number) {
    mix(number >= -8 && number <= 8 ? number + 16 : 0);
  }
  void end_of_list() { mix(0x3f); }

  // RuntimeError if no tensor is on a device.
  c10::Device device(const char* name) const;
  // Whether something is to be done: a tensor is written that has elements, or none is.
  bool has_work() const { return !writes_ || writes_elements_; }
  // Equal for calls that are alike in dtypes, modes, and kinds of numbers and shapes.
  uint64_t signature() const { return signature_; }
  // Whether each number fits into `dtype` without overflow.
  bool numbers_fit(at::ScalarType dtype) const;
  // The dtype of the computation, as far as it is known: the common one, or that of the
  // first tensor.
  at::ScalarType dtype() const {
    return common_ != at::ScalarType::Undefined ? common_ : first_dtype_;
  }
  // The dtype to which device code must convert what it reads. Where no tensor has the
  // common dtype, it came from torch's default dtype, which may be another one by then.
  at::ScalarType converted() const {
    return reads_common_ ? at::ScalarType::Undefined : common_;
  }

 private:
  void mix(uint64_t value) { signature_ = (signature_ ^ value) * 0x100000001b3; }

  c10::Device device_{c10::DeviceType::CPU};
  c10::SmallVector<const at::Scalar*, 4> numbers_;
  uint64_t signature_ = 0xcbf29ce484222325;
  at::ScalarType first_dtype_ = at::ScalarType::Undefined;
  at::ScalarType common_;
  bool reads_common_ = false;
  bool writes_ = false;
  bool writes_elements_ = false;
};

}  // namespace openreg::cpu
