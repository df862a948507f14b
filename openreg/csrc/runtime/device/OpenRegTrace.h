// Reports runtime calls to torch's GPU trace; see docs/ship/debugging.md.
#pragma once

#include <c10/core/impl/GPUTrace.h>

namespace openreg {

using PyTrace = c10::impl::PyInterpreterVTable;

// LITERALINCLUDE START: TRACE
// Calls one of the trace_gpu_* members. While the trace is off, this costs one branch.
// It may wait for Python's global lock: never call it with a lock held.
template <class... Parameters, class... Arguments>
void trace(void (PyTrace::*member)(c10::DeviceType, Parameters...) const,
           Arguments... arguments) {
  const c10::impl::PyInterpreter* interpreter = c10::impl::GPUTrace::get_trace();
  if (C10_UNLIKELY(interpreter != nullptr)) {
    ((**interpreter).*member)(c10::DeviceType::PrivateUse1,
                              reinterpret_cast<uintptr_t>(arguments)...);
  }
}
// LITERALINCLUDE END: TRACE

}  // namespace openreg
