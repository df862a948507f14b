// Turns driver error codes into exceptions; see docs/start/architecture.md.
#include "csrc/runtime/OpenRegException.h"

#include <c10/util/StringUtil.h>

namespace openreg {

void throwError(orError_t error, c10::SourceLocation where) {
  // The driver's words name the function and what was wrong: "orMalloc(): ...".
  std::string message =
      c10::str("openreg: ", orGetErrorDetail(), " (", orGetErrorName(error), ")");
  switch (error) {
    case orErrorMemoryAllocation:
      throw c10::OutOfMemoryError(where, std::move(message));
    case orErrorInvalidValue:
    case orErrorInvalidDevice:
      throw c10::ValueError(where, std::move(message));
    default:
      throw c10::AcceleratorError(where, error, std::move(message));
  }
}

}  // namespace openreg
