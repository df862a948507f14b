// Adds on the device, by addresses; see docs/start/first-kernel.md.
#include <ATen/TensorIterator.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/add.h>
#include <ATen/ops/add_meta.h>
#include <ATen/ops/add_ops.h>
#include <ATen/ops/relu.h>
#include <c10/core/DeviceGuard.h>
#include <openreg.h>
#include <torch/library.h>

#include "csrc/aten/ops/Fallback.h"
#include "csrc/runtime/errors/StarterException.h"
#include "csrc/runtime/stream/StarterStream.h"

namespace starter {
namespace {

using at::IntArrayRef;
using at::Tensor;

// LITERALINCLUDE START: FIRST_ARGUMENTS
constexpr int kOperands = 3;  // the result, self, other
constexpr int kMaxDims = 8;

// The arguments of the kernel, all by value: the device has no access to the host.
template <class T>
struct Arguments {
  int dims = 0;
  int64_t elements = 1;
  int64_t sizes[kMaxDims] = {};
  int64_t strides[kOperands][kMaxDims] = {};  // in bytes
  void* data[kOperands] = {};                 // null for a number from the CPU
  T numbers[kOperands] = {};
  T alpha = 1;
};
// LITERALINCLUDE END: FIRST_ARGUMENTS

// Device code.
template <class T>
T* element(const Arguments<T>& args, void* data, int operand, int64_t index) {
  int64_t offset = 0;
  for (int dim = 0; dim < args.dims; ++dim) {  // the first one changes fastest
    offset += index % args.sizes[dim] * args.strides[operand][dim];
    index /= args.sizes[dim];
  }
  return reinterpret_cast<T*>(static_cast<char*>(data) + offset);
}

// LITERALINCLUDE START: FIRST_DEVICE_CODE
template <class T, bool kRelu>
orError_t add_kernel(void* memory) {
  const auto& args = *static_cast<const Arguments<T>*>(memory);
  void* data[kOperands];
  for (int i = 0; i < kOperands; ++i) {
    data[i] = orKernelAddress(args.data[i]);  // VENDOR: use the address as it is
  }
  const auto read = [&](int operand, int64_t index) {
    return data[operand] == nullptr ? args.numbers[operand]
                                    : *element(args, data[operand], operand, index);
  };
  // VENDOR: one thread for each index instead of the loop
  for (int64_t i = 0; i < args.elements; ++i) {
    const T sum = read(1, i) + args.alpha * read(2, i);
    *element(args, data[0], 0, i) = kRelu && sum < T(0) ? T(0) : sum;
  }
  return orSuccess;
}
// LITERALINCLUDE END: FIRST_DEVICE_CODE

// LITERALINCLUDE START: FIRST_PACK
template <class T>
std::unique_ptr<Arguments<T>> pack(at::TensorIteratorBase& iterator,
                                   const at::Scalar& alpha) {
  auto args = std::make_unique<Arguments<T>>();
  args->alpha = alpha.to<T>();  // (1)
  args->dims = iterator.ndim();
  args->elements = iterator.numel();
  std::copy_n(iterator.shape().begin(), args->dims, args->sizes);
  for (int i = 0; i < kOperands; ++i) {
    if (iterator.is_cpu_scalar(i)) {
      args->numbers[i] = iterator.scalar_value<T>(i);  // (2)
    } else {
      args->data[i] = iterator.data_ptr(i);
      std::copy_n(iterator.strides(i).begin(), args->dims, args->strides[i]);
    }
  }
  return args;
}
// LITERALINCLUDE END: FIRST_PACK

// LITERALINCLUDE START: FIRST_LAUNCH
template <class T, bool kRelu>
void launch(const char* name, at::TensorIteratorBase& iterator,
            const at::Scalar& alpha) {
  auto args = pack<T>(iterator, alpha);
  const orKernel_t kernel = &add_kernel<T, kRelu>;
  const orHostFn_t destroy = [](void* memory) {
    delete static_cast<Arguments<T>*>(memory);
  };
  const orStream_t stream = native_handle(current_stream(current_device()));
  STARTER_CHECK(orLaunchKernel(name, kernel, args.get(), destroy, stream));
  args.release();
}
// LITERALINCLUDE END: FIRST_LAUNCH

// LITERALINCLUDE START: FIRST_CHOOSE
// Whether the device computes this; if so, it is enqueued.
template <bool kRelu>
bool enqueue(const char* name, at::TensorIteratorBase& iterator,
             const at::Scalar& alpha) {
  const at::ScalarType dtype = iterator.common_dtype();
  for (int i = 0; i < kOperands; ++i) {
    if (!iterator.is_cpu_scalar(i) && iterator.dtype(i) != dtype) {
      return false;
    }
  }
  if (iterator.ndim() > kMaxDims || (dtype != at::kFloat && dtype != at::kLong)) {
    return false;
  }
  if (iterator.numel() > 0) {
    const auto run =
        dtype == at::kFloat ? launch<float, kRelu> : launch<int64_t, kRelu>;
    run(name, iterator, alpha);
  }
  return true;
}
// LITERALINCLUDE END: FIRST_CHOOSE

// LITERALINCLUDE START: FIRST_META
struct Add final : at::meta::structured_add_Tensor {
  Tensor& out;

  explicit Add(Tensor& out) : out(out) {}

  const Tensor& maybe_get_output(int64_t) override { return out; }

  void set_output_raw_strided(int64_t index, IntArrayRef sizes, IntArrayRef strides,
                              at::TensorOptions options) override {
    if (at::native::resize_output(out, sizes) && !strides.empty()) {
      out.as_strided_(sizes, strides);
    }
    structured_add_Tensor::set_output_raw_strided(index, sizes, strides, options);
  }
};
// LITERALINCLUDE END: FIRST_META

// LITERALINCLUDE START: FIRST_ADD_OUT
Tensor& add_out(const Tensor& self, const Tensor& other, const at::Scalar& alpha,
                Tensor& out) {
  const c10::DeviceGuard scope(out.device());
  Add iterator(out);
  iterator.meta(self, other, alpha);              // (1)
  if (!enqueue<false>("add", iterator, alpha)) {  // (2)
    using OnCpu = at::native::call_fallback_fn<&cpu_fallback, at::_ops::add_out>;
    OnCpu::call(self, other, alpha, out);
  }
  return out;  // (3)
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("add.out", add_out); }
// LITERALINCLUDE END: FIRST_ADD_OUT

// LITERALINCLUDE START: FIRST_ADD_RELU
Tensor add_relu(const Tensor& self, const Tensor& other) {
  TORCH_CHECK(self.device() == other.device(), "add_relu: expected two tensors on ",
              self.device(), ", but the second is on ", other.device());
  const c10::DeviceGuard scope(self.device());
  Tensor out;
  at::TensorIterator iterator = at::TensorIterator::binary_op(out, self, other);
  if (enqueue<true>("add_relu", iterator, 1)) {
    return iterator.output();
  }
  return at::relu(at::add(self, other));
}

TORCH_LIBRARY_FRAGMENT(starter, m) {
  m.def("add_relu(Tensor self, Tensor other) -> Tensor");
}
TORCH_LIBRARY_IMPL(starter, PrivateUse1, m) { m.impl("add_relu", add_relu); }
// LITERALINCLUDE END: FIRST_ADD_RELU

}  // namespace
}  // namespace starter
