// Random numbers made on the CPU, for a device that lacks what their kernel needs; see
// docs/opencl/kernels.md.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <functional>

#include "csrc/runtime/random/PhiloxState.h"

namespace ocl::opencl {

using FillOnHost = std::function<void(at::Tensor&, const at::Generator&)>;

// Fills `self` with what `fill` draws on the CPU, and counts a fallback of `name`. The
// numbers follow from the state of the generator, but are not those of the kernel.
// Throws in a captured graph, which cannot wait.
void fill_on_host(const char* name, const at::Tensor& self,
                  const PhiloxKernelState& random, const FillOnHost& fill);

}  // namespace ocl::opencl
