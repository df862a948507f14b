// Runs an operator on the CPU, also for a kernel that lacks a dtype; see
// docs/start/first-fallback.md.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>

namespace starter {

// LITERALINCLUDE START: STARTER_FALLBACK_HEADER
// A boxed kernel: for m.fallback(), and for at::native::call_fallback_fn.
void cpu_fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack);
// LITERALINCLUDE END: STARTER_FALLBACK_HEADER

}  // namespace starter
