// Turns the driver's error codes into exceptions; see docs/start/first-backend.md.
#pragma once

#include <c10/util/Exception.h>
#include <openreg.h>

// LITERALINCLUDE START: STARTER_CHECK
namespace starter {

// VENDOR: which codes of your driver are out-of-memory, bad arguments or a lost device
[[noreturn]] inline void throw_error(orError_t error,
                                     const c10::SourceLocation& where) {
  std::string message =
      c10::str("starter: ", orGetErrorDetail(), " (", orGetErrorName(error), ")");
  switch (error) {
    case orErrorMemoryAllocation:
      throw c10::OutOfMemoryError(where, std::move(message));
    case orErrorInvalidValue:
      throw c10::ValueError(where, std::move(message));
    default:
      throw c10::AcceleratorError(where, error, std::move(message));
  }
}

}  // namespace starter
// LITERALINCLUDE END: STARTER_CHECK

// LITERALINCLUDE START: STARTER_CHECK_MACRO
// For every call of the driver, except where nothing may be thrown.
#define STARTER_CHECK(CALL)                                                            \
  do {                                                                                 \
    const orError_t starter_error = (CALL);                                            \
    if (C10_UNLIKELY(starter_error != orSuccess)) {                                    \
      ::starter::throw_error(starter_error, {__func__, __FILE__, uint32_t{__LINE__}}); \
    }                                                                                  \
  } while (false)
// LITERALINCLUDE END: STARTER_CHECK_MACRO
