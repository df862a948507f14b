// What a kernel must not read when it runs, because it belongs to the launch; see
// docs/operators/borrowed-kernels.md.
#pragma once

#include <cstdint>

#include "csrc/Export.h"

namespace openreg::cpu {

// Whether a kernel of ATen reads torch.set_float32_matmul_precision, a setting of the
// process, as products of matrices and convolutions do.
enum class Precision : uint8_t {
  Ignored,
  Read,
};

// LITERALINCLUDE START: LAUNCH_STATE
// The settings with which an operator was called. ATen's CPU kernels read them from the
// thread that runs them, or from the process; both may have other settings by then. On
// your own device they are arguments of the kernel.
class OPENREG_EXPORT LaunchState {
 public:
  static LaunchState of_caller(Precision reads);

  // Inside a kernel: whether the precision of products that is set now differs from the
  // precision at the launch.
  bool precision_changed() const;
  // Inside a kernel: whether products may round their inputs to bfloat16.
  bool rounds_to_bfloat16() const;
  // LITERALINCLUDE END: LAUNCH_STATE

  // For a scope in a kernel: the thread has the settings of the launch.
  class OPENREG_EXPORT Scope {
   public:
    explicit Scope(const LaunchState& state);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    int threads_;
    uint32_t float_control_;
    const LaunchState* outer_;
    const LaunchState& state_;
  };

  // Inside a kernel: the state of its launch.
  static const LaunchState& of_kernel();

 private:
  // LITERALINCLUDE START: LAUNCH_SETTINGS
  // How many threads share one operation: a sum of floats depends on it in its last
  // bits.
  int threads_ = 1;
  // Denormal numbers and rounding, as the processor keeps them for each thread.
  uint32_t float_control_ = 0;
  // Also of this size: a copy of a smaller one waits for the memory of the arguments.
  uint32_t precision_ = 0;
  // LITERALINCLUDE END: LAUNCH_SETTINGS
};

}  // namespace openreg::cpu
