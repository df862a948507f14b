// Turns driver error codes into exceptions; see docs/runtime/errors.md.
#pragma once

#include <c10/util/Exception.h>
#include <openreg.h>

#include <string>

#include "csrc/Export.h"

namespace openreg {

// Throws the C++ exception that Python has under the right name:
//   orErrorMemoryAllocation                      torch.OutOfMemoryError
//   orErrorInvalidValue                          ValueError
//   anything else                                torch.AcceleratorError, with the code
// A device that does not exist is an AcceleratorError, as on CUDA: torch's contract for
// it is a RuntimeError. The message contains the driver's error detail, which names the
// function that failed. `doing` describes what the backend was doing, where the
// function name is not enough.
[[noreturn]] OPENREG_EXPORT void throwError(orError_t error, c10::SourceLocation where,
                                            const std::string& doing = "");

}  // namespace openreg

// LITERALINCLUDE START: OPENREG_CHECK
// Makes a driver call, and throws if it fails. Use it for each call, except where an
// error is an expected result (out of memory, not ready) and where nothing may be
// thrown.
#define OPENREG_CHECK(CALL)                                                           \
  do {                                                                                \
    const orError_t openreg_error = (CALL);                                           \
    if (C10_UNLIKELY(openreg_error != orSuccess)) {                                   \
      ::openreg::throwError(openreg_error, {__func__, __FILE__, uint32_t{__LINE__}}); \
    }                                                                                 \
  } while (false)
// LITERALINCLUDE END: OPENREG_CHECK
