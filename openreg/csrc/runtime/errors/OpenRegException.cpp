// Turns driver error codes into exceptions; see docs/runtime/errors.md.
#include "csrc/runtime/errors/OpenRegException.h"

#include <c10/util/StringUtil.h>

namespace openreg {

// VENDOR: which codes of your driver are out-of-memory, bad arguments or a lost device
// LITERALINCLUDE START: THROW_ERROR
void throwError(orError_t error, c10::SourceLocation where, const std::string& doing) {
  const bool capture =
      error >= orErrorStreamCaptureUnsupported && error <= orErrorStreamCaptureUnjoined;
  const char* page = capture ? "Errors of graphs" : "Errors";
  const bool sticky = error == orErrorLaunchFailure || error == orErrorIllegalAddress;
  const char* remedy = sticky ? " start a new process;" : "";
  std::string message = c10::str(
      "openreg: ", doing, doing.empty() ? "" : ": ", orGetErrorDetail(),  // (1)
      " (", orGetErrorName(error), ";", remedy, " see \"", page,          // (2)
      "\" in the guide)");
  switch (error) {
    case orErrorMemoryAllocation:
      throw c10::OutOfMemoryError(where, std::move(message));
    case orErrorInvalidValue:
      throw c10::ValueError(where, std::move(message));
    default:
      throw c10::AcceleratorError(where, error, std::move(message));  // (3)
  }
}
// LITERALINCLUDE END: THROW_ERROR

}  // namespace openreg
