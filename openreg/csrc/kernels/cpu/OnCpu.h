// Registers operators whose kernel is a function of ATen's CPU library; see
// docs/operators/borrowed-kernels.md.
#pragma once

#include <algorithm>

#include "csrc/aten/structured/Structured.h"
#include "csrc/kernels/cpu/Functions.h"
#include "csrc/kernels/cpu/Launch.h"

namespace openreg::cpu {

// A kernel for structured(): launches `kFunction`, such as at::cpu::mul_outf.
template <auto* kFunction, Precision kPrecision = Precision::Ignored>
struct OnCpu {
  template <class... Args>
    requires std::is_invocable_v<decltype(kFunction), Args...>
  void operator()(const StructuredCall& call, Args&&... args) const {
    cpu::call(Options(call.name, kPrecision, call.common_dtype), kFunction, args...);
  }
};

// LITERALINCLUDE START: ON_CPU
// What ATen calls one structured operator, computed by a function of its CPU library.
// The types say what belongs together: a function of another signature does not
// compile.
template <class Op, class Out, class Meta, OutFunctionOf<Op>* kFunction,
          Precision kPrecision = Precision::Ignored>
void on_cpu(torch::Library& m) {
  structured<Op, Out, Meta>(m, OnCpu<kFunction, kPrecision>());
}
// LITERALINCLUDE END: ON_CPU

// The same with another function for the in-place form, which writes to a tensor that
// overlaps itself.
template <auto* kOut, auto* kInplace>
struct OnCpuInPlace : OnCpu<inplace_or_out<kOut, kInplace>> {
  static constexpr bool kMayOverlapItself = true;
};
template <class Op, class Out, class Meta, OutFunctionOf<Op>* kOut, auto* kInplace>
void on_cpu_in_place(torch::Library& m) {
  structured<Op, Out, Meta>(m, OnCpuInPlace<kOut, kInplace>());
}

// The same for an operator that has no form with out=.
template <class Op, class Meta, OutFunctionOf<Op>* kFunction>
void on_cpu_without_out(torch::Library& m) {
  structured_without_out<Op, Meta>(m, OnCpu<kFunction>());
}

}  // namespace openreg::cpu
