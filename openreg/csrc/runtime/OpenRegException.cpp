// Turns error codes of the driver into PyTorch's exceptions; explained in docs/start/architecture.md.
#include "csrc/runtime/OpenRegException.h"

#include <c10/util/StringUtil.h>

#include <string_view>

namespace openreg {

void throwError(orError_t error, const char* call, c10::SourceLocation where) {
  // "orMalloc(&ptr, size)" -> "orMalloc": the arguments' C++ names help nobody.
  const std::string_view text(call);
  const std::string_view function = text.substr(0, text.find('('));
  std::string message =
      c10::str("openreg: ", function, ": ", orGetErrorString(error), " (",
               orGetErrorName(error), "). ", orGetErrorDetail());
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
