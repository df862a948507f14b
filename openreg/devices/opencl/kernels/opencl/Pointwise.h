// Kernels of operators that are one formula; see docs/opencl/kernels.md.
//
//   structured_or_fall_back<op::exp, op::exp_out, meta::structured_exp>(
//       m, Computes{"exp(a)"});
//   structured_or_fall_back<op::add_Tensor, op::add_out, meta::structured_add_Tensor>(
//       m, ComputesWithNumbers{"a + p * b"});  // its number alpha is p
#pragma once

#include "csrc/kernels/opencl/Fallback.h"
#include "csrc/kernels/opencl/Iterator.h"

namespace ocl::opencl {

// A formula of the operands alone: numbers, if there are any, are operands already.
struct Computes {
  Formula formula;

  explicit constexpr Computes(const char* floating, const char* integral = nullptr,
                              const char* boolean = nullptr)
      : formula{floating, integral, boolean} {}

  bool operator()(at::TensorIteratorBase& iterator, const auto&...) const {
    return pointwise(iterator, formula);
  }
};

// A formula whose p, q, r, s are the numbers among the arguments.
struct ComputesWithNumbers {
  Formula formula;

  explicit constexpr ComputesWithNumbers(const char* floating,
                                         const char* integral = nullptr)
      : formula{floating, integral} {}

  bool operator()(at::TensorIteratorBase& iterator, const auto&... numbers) const {
    return pointwise(iterator, formula, {at::Scalar(numbers)...});
  }
};

}  // namespace ocl::opencl
