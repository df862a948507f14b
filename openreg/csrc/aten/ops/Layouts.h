// Kernels for tensors that are not dense; see docs/operators/layouts.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <optional>
#include <string_view>
#include <tuple>

namespace openreg {

// LITERALINCLUDE START: BORROW
// Boxed kernel: calls torch's CPU kernel for this layout with the device tensors. This
// works only for code that accesses no element, because it reads sizes or calls
// operators, which run the kernels of the device.
template <c10::DispatchKey cpu_key>
void redispatch_to_cpu_key(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  op.redispatchBoxed(c10::DispatchKeySet(cpu_key), stack);
}
// LITERALINCLUDE END: BORROW

// Boxed kernel: the same for a nested tensor made of a buffer and tensors of sizes.
// Torch reads the sizes on the host, so they must be in host memory.
void nested_from_host_sizes(const c10::OperatorHandle& op, torch::jit::Stack* stack);

// A tensor of zeros that has no memory; torch makes them for forward mode.
at::Tensor zero_tensor(at::IntArrayRef size, std::optional<at::ScalarType> dtype,
                       std::optional<at::Layout> layout,
                       std::optional<at::Device> device,
                       std::optional<bool> pin_memory);

void layout_fallback(c10::DispatchKey cpu_key, const c10::OperatorHandle& op,
                     torch::jit::Stack* stack);

// Boxed kernel: copies the arguments to the CPU, runs the CPU's kernel for this layout
// there, and brings the results back.
template <c10::DispatchKey cpu_key>
void fall_back(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  layout_fallback(cpu_key, op, stack);
}

// A product of a compressed matrix, reduced by `reduce`, on the CPU. The kernel there
// also finds the places of amax and amin, but only for tensors that require gradients,
// which the copies of a fallback do not.
std::tuple<at::Tensor, at::Tensor> sparse_mm_reduce(const at::Tensor& self,
                                                    const at::Tensor& other,
                                                    std::string_view reduce);

// Copies between host and device; quantizes if only `dst` is quantized.
at::Tensor copy_from_quantized(const at::Tensor& self, const at::Tensor& dst,
                               bool non_blocking);

// With these functions the fallback writes its results into the arguments.
at::Tensor copy_from_and_resize_sparse(const at::Tensor& self, const at::Tensor& dst);
at::Tensor copy_from_and_resize_same(const at::Tensor& self, const at::Tensor& dst);

}  // namespace openreg
