// What a kernel must not read when it runs, because it belongs to the launch; see
// docs/operators/borrowed-kernels.md.
#include "csrc/kernels/cpu/LaunchState.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <utility>

namespace openreg::cpu {
namespace {

using at::Float32Backend;
using at::Float32Op;
using at::Float32Precision;

thread_local const LaunchState* running = nullptr;

// LITERALINCLUDE START: FLOAT_CONTROL
#if defined(__x86_64__)
// The control register bits for exceptions of earlier computations do not affect the
// computation.
constexpr uint32_t kExceptionFlags = 0x3f;

uint32_t float_control() { return _mm_getcsr() & ~kExceptionFlags; }
void set_float_control(uint32_t control) { _mm_setcsr(control); }
#elif defined(__aarch64__)
// The exceptions have their own register here, FPSR.
uint32_t float_control() {
  uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return static_cast<uint32_t>(control);
}
void set_float_control(uint32_t control) {
  asm volatile("msr fpcr, %0" ::"r"(static_cast<uint64_t>(control)));
}
#else
#error "Where does this processor keep its rounding mode and how it flushes denormals?"
#endif
// LITERALINCLUDE END: FLOAT_CONTROL

bool bfloat16_for(Float32Op op) {
  return at::globalContext().float32Precision(Float32Backend::MKLDNN, op) ==
         Float32Precision::BF16;
}

// Bit 0: for products of matrices; bit 1: for convolutions.
uint32_t precision_now() {
  return static_cast<uint32_t>(bfloat16_for(Float32Op::MATMUL)) |
         static_cast<uint32_t>(bfloat16_for(Float32Op::CONV) << 1);
}

constexpr uint32_t kNotCaptured = 0xff;

}  // namespace

LaunchState LaunchState::of_caller(Precision reads) {
  LaunchState state;
  state.threads_ = at::get_num_threads();
  state.float_control_ = float_control();
  state.precision_ = reads == Precision::Read ? precision_now() : kNotCaptured;
  return state;
}

bool LaunchState::precision_changed() const {
  return precision_ != kNotCaptured && precision_ != precision_now();
}

bool LaunchState::rounds_to_bfloat16() const { return precision_ != 0; }

const LaunchState& LaunchState::of_kernel() { return *running; }

LaunchState::Scope::Scope(const LaunchState& state)
    : threads_(at::get_num_threads()),
      float_control_(float_control()),
      outer_(std::exchange(running, &state)),
      state_(state) {
  // A new thread takes the number that any thread set last, and torch's thread that
  // pins the batches of a DataLoader sets 1.
  if (C10_UNLIKELY(state_.threads_ != threads_)) {
    at::set_num_threads(state_.threads_);
  }
  if (C10_UNLIKELY(state_.float_control_ != float_control_)) {
    set_float_control(state_.float_control_);
  }
}

LaunchState::Scope::~Scope() {
  if (C10_UNLIKELY(state_.float_control_ != float_control_)) {
    set_float_control(float_control_);
  }
  if (C10_UNLIKELY(state_.threads_ != threads_)) {
    at::set_num_threads(threads_);
  }
  running = outer_;
}

}  // namespace openreg::cpu
