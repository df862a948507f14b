// Uniform, normal and what follows from them; see docs/frontend/random.md.
#pragma once

#include <ATen/core/Tensor.h>

#include "csrc/runtime/random/PhiloxState.h"

namespace openreg::kernels {

// Each launches a kernel that fills `self`, of float16, bfloat16, float32 or float64.
// An element takes two random words for float64 and for cauchy(), else one.

// Uniform in [from, to): a number that rounds up to `to` becomes the last one below.
void uniform(const at::Tensor& self, PhiloxKernelState random, double from, double to);

// Normal, and e to the power of normal numbers.
void normal(const at::Tensor& self, PhiloxKernelState random, double mean, double std);
void log_normal(const at::Tensor& self, PhiloxKernelState random, double mean,
                double std);

// Exponential with rate `lambda`; the numbers are neither 0 nor infinite.
void exponential(const at::Tensor& self, PhiloxKernelState random, double lambda);

// Cauchy; the numbers are neither 0 nor infinite because of a rounding.
void cauchy(const at::Tensor& self, PhiloxKernelState random, double median,
            double sigma);

}  // namespace openreg::kernels
