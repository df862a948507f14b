// Fused optimizers in OpenCL C; see docs/opencl/kernels.md.
//
// Options: T is the tag of the parameters' dtype, C that of double, or of float on a
// device that lacks double.
#pragma once

#include "csrc/kernels/opencl/Launch.h"

namespace ocl::opencl::optimizer {

// The scale of the gradients, whether one of them is not finite, and a learning rate
// that is a tensor may be missing: null. The device reads them; the host never waits.
inline constexpr Source kOptimizers{R"(
typedef COMPUTE(T) Value;
typedef COMPUTE(C) Real;  // double, if the device has it
#define OPERANDS_OF_ALL                                                        \
  global T *parameters, global T *grads, long count, int maximize,             \
      Real rate_number, Real weight_decay, global const float *rate_tensor,    \
      global const float *scale, global const float *found_inf

#define BEGIN                                                                  \
  const long i = get_global_id(0);                                             \
  if (i >= count || (found_inf && *found_inf != 0)) return;                    \
  const Real rate = rate_tensor ? (Real)*rate_tensor : rate_number;            \
  Value x = LOAD(T, parameters, i);                                            \
  Value g = LOAD(T, grads, i);                                                 \
  if (scale) {                                                                 \
    g /= *scale;                                                               \
    STORE(T, grads, i, g);                                                     \
  }                                                                            \
  g = maximize ? -g : g;

kernel void sgd(OPERANDS_OF_ALL, global T* buffers, Real momentum, Real dampening,
                int nesterov, int first) {
  BEGIN
  g += (Value)weight_decay * x;
  if (buffers) {
    const Value kept = first ? 0 : LOAD(T, buffers, i);
    const Value v =
        first ? g : (Value)momentum * kept + (Value)(1 - dampening) * g;
    STORE(T, buffers, i, v);
    g = nesterov ? g + (Value)momentum * v : v;
  }
  STORE(T, parameters, i, x - (Value)rate * g);
}

// `decoupled`: AdamW, whose weight decay is no part of the gradient.
kernel void adam(OPERANDS_OF_ALL, global T* means, global T* squares,
                 global T* largest, global const float* step, Real beta1, Real beta2,
                 Real eps, int decoupled) {
  BEGIN
  if (decoupled) {
    x -= (Value)(rate * weight_decay) * x;
  } else {
    g += (Value)weight_decay * x;
  }
  const Value old_mean = LOAD(T, means, i), old_square = LOAD(T, squares, i);
  const Value mean = old_mean + (Value)(1 - beta1) * (g - old_mean);
  Value square = (Value)beta2 * old_square + (Value)(1 - beta2) * g * g;
  STORE(T, means, i, mean);
  STORE(T, squares, i, square);
  if (largest) {
    square = fmax(square, (Value)LOAD(T, largest, i));
    STORE(T, largest, i, square);
  }
  const Real bias1 = 1 - pow(beta1, (Real)*step);
  const Real bias2 = 1 - pow(beta2, (Real)*step);
  const Value divisor = sqrt(square) / (Value)sqrt(bias2) + (Value)eps;
  STORE(T, parameters, i, x - (Value)(rate / bias1) * mean / divisor);
}

kernel void adagrad(OPERANDS_OF_ALL, global T* sums, global const float* step,
                    Real rate_decay, Real eps) {
  BEGIN
  g += (Value)weight_decay * x;
  const Value sum = LOAD(T, sums, i) + g * g;
  STORE(T, sums, i, sum);
  const Real decayed = rate / (1 + (*step - 1) * rate_decay);
  STORE(T, parameters, i, x - (Value)decayed * g / (sqrt(sum) + (Value)eps));
}

kernel void unscale(global T* grads, long count, global float* found_inf,
                    global const float* inverse_scale) {
  const long i = get_global_id(0);
  if (i >= count) return;
  const Value g = LOAD(T, grads, i);
  if (!isfinite(g)) {
    *found_inf = 1;  // all who write, write the same
  }
  if (*inverse_scale != 1) {
    STORE(T, grads, i, g * *inverse_scale);
  }
}

kernel void update_scale(global float* scale, global int* growth_tracker,
                         global const float* found_inf, Real growth, Real backoff,
                         int interval) {
  if (*found_inf != 0) {
    *scale = (float)(*scale * backoff);
    *growth_tracker = 0;
  } else if (*growth_tracker + 1 == interval) {
    const float grown = (float)(*scale * growth);
    *scale = isfinite(grown) ? grown : *scale;
    *growth_tracker = 0;
  } else {
    *growth_tracker += 1;
  }
}
)"};

}  // namespace ocl::opencl::optimizer
