// Registers with torch while the library is loaded; see docs/frontend/autoload.md.
#include "csrc/runtime/device/OpenRegRegistration.h"

#include <c10/util/Exception.h>

namespace openreg {
namespace {

// Made on first use: static objects of other files call this before those of this file
// exist.
std::string& first_error() noexcept {
  static auto* message = new std::string;
  return *message;
}

}  // namespace

const std::string& Registration::error() noexcept { return first_error(); }

void Registration::keep(const char* what, const std::exception& error) noexcept {
  if (!first_error().empty()) {
    return;
  }
  const auto* with_backtrace = dynamic_cast<const c10::Error*>(&error);
  const char* reason = with_backtrace != nullptr
                           ? with_backtrace->what_without_backtrace()
                           : error.what();
  first_error() = c10::str("openreg: cannot register ", what, " with torch: ", reason);
}

}  // namespace openreg
