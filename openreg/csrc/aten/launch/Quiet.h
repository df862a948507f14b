// Drops warnings that were given already; see docs/operators/structured.md.
#pragma once

#include <c10/util/Exception.h>

namespace openreg {

// Drops the warnings of a scope: what the CPU's operator says of zeros, and in a kernel
// what the host half has said.
class Quiet final : c10::WarningHandler {
 public:
  Quiet() : guard_(this) {}
  void process(const c10::Warning&) override {}

 private:
  c10::WarningUtils::WarningHandlerGuard guard_;
};

// LITERALINCLUDE START: SILENT
// A function of the kernel library as a kernel that leaves warnings to the host half:
// the host warns on the call that causes it, a kernel could only warn later.
template <auto* kFunction>
struct Silent;
template <class Result, class... Args, Result (*kFunction)(Args...)>
struct Silent<kFunction> {
  static Result call(Args... args) {
    const Quiet quiet;
    return kFunction(args...);
  }
};
// LITERALINCLUDE END: SILENT

}  // namespace openreg
