// Asks ATen's CPU kernels, before a launch, whether they would refuse the arguments;
// see docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <c10/util/FunctionRef.h>

namespace openreg {

// A device's own library knows for which dtypes it has kernels. OpenReg borrows ATen's
// CPU kernels, and those tell only when they are called; from inside a kernel their
// error would come too late and as a fault of the device. So the first call of an
// operator with new dtypes is tried on the host: `trial` calls the kernel with
// stand-ins.
class KernelLibrary {
 public:
  // Throws what the trial throws with stand-ins of zeros, unless it passes with ones:
  // then it was about values. What is left is about dtypes, how they mix, and texts.
  // `signature` stands for the operator, its dtypes and texts; asked once a thread.
  static void require(uint64_t signature, c10::function_ref<void()> trial);

  // Throws whatever the trial throws; not remembered.
  static void require_values(c10::function_ref<void()> trial);
};

// A CPU tensor of the sizes and the dtype of `tensor`.
at::Tensor stand_in(const at::Tensor& tensor);

// An output for a trial: uninitialised memory of its own.
at::Tensor stand_in_for_output(const at::Tensor& out);

// Whether `dtype` can hold `number`. Kernels throw if it cannot.
bool fits(const at::Scalar& number, at::ScalarType dtype);

}  // namespace openreg
