// Runs an operator on the CPU: modes, counters; see docs/operators/fallback.md.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "csrc/Export.h"

namespace openreg {

// Boxed kernel: copies the arguments to the CPU, runs the CPU kernel there and brings
// the results back to the device that the arguments came from.
void cpu_fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack);

// The device of an operator that is about to fall back, if it has one. Throws if its
// arguments are on several, or if its stream is captured.
std::optional<c10::Device> check_fallback(const c10::OperatorHandle& op,
                                          const torch::jit::Stack& stack);

// Counts one fallback; warns or throws if the mode says so.
void count_fallback(const std::string& name);

// What to do when an operator falls back. OPENREG_FALLBACK sets the initial mode.
//   allow  run it                  warn   run it, and warn once for each operator,
//   error  throw NotImplementedError      counted from the last change of the mode
OPENREG_EXPORT void set_fallback_mode(std::string_view mode);
OPENREG_EXPORT std::string fallback_mode();

// How often each operator ("aten::mul.Tensor") has fallen back since the last reset.
OPENREG_EXPORT std::map<std::string, int64_t> fallback_counts();
OPENREG_EXPORT void reset_fallback_counts();

}  // namespace openreg
