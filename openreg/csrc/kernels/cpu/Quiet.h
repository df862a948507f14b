// Drops warnings that were given already; see docs/operators/borrowed-kernels.md.
#pragma once

#include <c10/util/Exception.h>

namespace openreg::cpu {

// Drops the warnings of a scope: what the CPU's operator says of zeros, and in device
// code what the host half has said.
class Quiet final : c10::WarningHandler {
 public:
  Quiet() : guard_(this) {}
  void process(const c10::Warning&) override {}

 private:
  c10::WarningUtils::WarningHandlerGuard guard_;
};

}  // namespace openreg::cpu
