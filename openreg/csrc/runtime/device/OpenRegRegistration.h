// Registers with torch while the library is loaded; see docs/frontend/autoload.md.
#pragma once

#include <exception>
#include <string>

#include "csrc/Export.h"

namespace openreg {

// LITERALINCLUDE START: REGISTRATION
// A static object that registers something. An exception in a static initializer calls
// std::terminate, which ends the program that wrote `import torch`. So `function` may
// throw here: the message is kept, and `import torch` raises it.
class OPENREG_EXPORT Registration {
 public:
  template <class Function>
  Registration(const char* what, Function&& function) noexcept {
    try {
      function();
    } catch (const std::exception& error) {
      keep(what, error);
    }
  }

  // The error of the first registration that failed; empty if none failed.
  static const std::string& error() noexcept;

 private:
  static void keep(const char* what, const std::exception& error) noexcept;
};
// LITERALINCLUDE END: REGISTRATION

}  // namespace openreg
