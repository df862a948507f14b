// Drops warnings that were given already; see docs/operators/meta-functions.md.
#pragma once

#include <c10/util/Exception.h>

namespace openreg {

// Drops the warnings of a scope, such as the warnings of a CPU operator that runs on
// zeros.
class IgnoreWarnings final : c10::WarningHandler {
 public:
  IgnoreWarnings() : guard_(this) {}
  void process(const c10::Warning&) override {}

 private:
  c10::WarningUtils::WarningHandlerGuard guard_;
};

}  // namespace openreg
