// Normalization in OpenCL C; see docs/opencl/kernels.md.
#pragma once

#include "csrc/kernels/opencl/Launch.h"

namespace ocl::kernels::norm {

// T is the tag of the input, S of the statistics, W of the parameters. GIVEN is 1 if
// the statistics are running ones; ITEMS work items share a row.
inline constexpr opencl::Source kNorm{R"(
typedef COMPUTE(T) Value;
typedef struct {
  long rows, length, row_stride, inner, outer_stride, groups, per_group, spatial,
      parameters, terms;
} Shape;

#ifdef BATCH
#define ADDRESS(r, j) \
  ((r) * s.row_stride + (j) / s.inner * s.outer_stride + (j) % s.inner)
#define PARAMETER(r, j) (r)
#else
#define ADDRESS(r, j) ((r) * s.row_stride + (j))
#ifdef LAYER
#define PARAMETER(r, j) (j)
#else
#define PARAMETER(r, j) ((r) % s.groups * s.per_group + (j) / s.spatial)
#endif
#endif
#define WEIGHT(r, j) (weight ? (Value)LOAD(W, weight, PARAMETER(r, j)) : (Value)1)
#define FOR_EACH(j) for (long j = item; j < s.length; j += ITEMS)

static Value total(Value value, local Value* values, int item) {
#if ITEMS > 1
  barrier(CLK_LOCAL_MEM_FENCE);
  values[item] = value;
  for (int width = ITEMS / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < width) {
      values[item] += values[item + width];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return values[0];
#else
  return value;
#endif
}

kernel void normalize_rows(global void* out, global void* means, global void* rstds,
                      global void* running_mean, global void* running_var,
                      global const void* in, global const void* weight,
                      global const void* bias, Value eps, Value momentum,
                      const Shape s) {
  local Value values[ITEMS];
  const long r = get_group_id(0);
  const int item = get_local_id(0);
#if GIVEN
  const Value mean = LOAD(S, running_mean, r);
  const Value rstd = 1 / sqrt((Value)LOAD(S, running_var, r) + eps);
#else
  Value sum = 0, squares = 0;
  FOR_EACH(j) { sum += LOAD(T, in, ADDRESS(r, j)); }
  const Value mean = total(sum, values, item) / s.length;
  FOR_EACH(j) {
    const Value x = LOAD(T, in, ADDRESS(r, j)) - mean;
    squares += x * x;
  }
  squares = total(squares, values, item);
  const Value rstd = 1 / sqrt(squares / s.length + eps);
  if (item == 0) {
    STORE(S, means, r, mean);
    STORE(S, rstds, r, rstd);
    if (running_mean) {
      const Value before = LOAD(S, running_mean, r);
      STORE(S, running_mean, r, before + momentum * (mean - before));
    }
    if (running_var) {  // without bias
      const Value before = LOAD(S, running_var, r);
      STORE(S, running_var, r, before + momentum * (squares / (s.length - 1) - before));
    }
  }
#endif
  FOR_EACH(j) {
    const Value x = (LOAD(T, in, ADDRESS(r, j)) - mean) * rstd * WEIGHT(r, j);
    const Value add = bias ? (Value)LOAD(W, bias, PARAMETER(r, j)) : (Value)0;
    STORE(T, out, ADDRESS(r, j), x + add);
  }
}

// The gradient of the input; of batch normalization, those of the parameters as well.
kernel void differentiate(global void* out, global void* of_weight,
                          global void* of_bias, global const void* grad,
                          global const void* in, global const void* means,
                          global const void* rstds, global const void* weight,
                          Value eps, const Shape s) {
  local Value values[ITEMS];
  const long r = get_group_id(0);
  const int item = get_local_id(0);
  const Value mean = LOAD(S, means, r);
  Value rstd = LOAD(S, rstds, r);
#if GIVEN
  rstd = 1 / sqrt(rstd + eps);
#endif
#ifdef BATCH
#define SCALE(j) 1
  const Value scale = WEIGHT(r, 0);
#else
#define SCALE(j) WEIGHT(r, j)
  const Value scale = 1;
#endif
  Value sum = 0, product = 0;
  FOR_EACH(j) {
    const long at = ADDRESS(r, j);
    const Value g = LOAD(T, grad, at) * SCALE(j);
    sum += g;
    product += g * (LOAD(T, in, at) - mean);
  }
  sum = total(sum, values, item);
  product = total(product, values, item) * rstd;
#ifdef BATCH
  if (item == 0 && of_weight) {
    STORE(W, of_weight, r, product);
  }
  if (item == 0 && of_bias) {
    STORE(W, of_bias, r, sum);
  }
#endif
  if (!out) {
    return;
  }
  const Value mean_of_grad = GIVEN ? 0 : sum / s.length;
  const Value slope = GIVEN ? 0 : product / s.length * rstd;
  FOR_EACH(j) {
    const long at = ADDRESS(r, j);
    const Value g = LOAD(T, grad, at) * SCALE(j);
    const Value x = LOAD(T, in, at) - mean;
    STORE(T, out, at, (g - mean_of_grad - x * slope) * rstd * scale);
  }
}

// The gradients of the parameters, which each row has in common.
kernel void parameters(global void* of_weight, global void* of_bias,
                       global const void* grad, global const void* in,
                       global const void* means, global const void* rstds,
                       const Shape s) {
  local Value values[ITEMS];
  const long p = get_global_id(0) / ITEMS;
  const int item = get_global_id(0) % ITEMS;
#if ITEMS == 1
  if (p >= s.parameters) {
    return;
  }
#endif
  Value product = 0, sum = 0;
  for (long t = item; t < s.terms; t += ITEMS) {
#ifdef LAYER
    const long row = t, at = t * s.row_stride + p;
#else
    const long image = t / s.spatial, row = image * s.groups + p / s.per_group;
    const long at = (image * s.parameters + p) * s.spatial + t % s.spatial;
#endif
    const Value g = LOAD(T, grad, at);
    sum += g;
    product += g * (LOAD(T, in, at) - LOAD(S, means, row)) * LOAD(S, rstds, row);
  }
  sum = total(sum, values, item);
  product = total(product, values, item);
  if (item == 0 && of_weight) {
    STORE(W, of_weight, p, product);
  }
  if (item == 0 && of_bias) {
    STORE(W, of_bias, p, sum);
  }
}
)"};

}  // namespace ocl::kernels::norm
