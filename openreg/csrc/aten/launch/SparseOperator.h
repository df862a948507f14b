// Makes a native operator with a sparse result; see docs/operators/sparse.md.
#pragma once

#include <c10/util/DimVector.h>
#include <torch/library.h>

#include <optional>
#include <string_view>
#include <tuple>

#include "csrc/aten/launch/SparseKernelTensorArg.h"

namespace openreg {

// What a launch keeps of an argument, and what the kernel gets.
template <class T>
const T& capture_any(const T& value) {
  return value;
}
inline SparseKernelTensorArg capture_any(const at::Tensor& tensor) {
  return SparseKernelTensorArg::input(tensor);
}
inline c10::DimVector capture_any(at::IntArrayRef values) {
  return c10::DimVector(values);
}

template <class T>
const T& argument(const T& value, KernelArguments&) {
  return value;
}
inline at::Tensor argument(const SparseKernelTensorArg& tensor,
                           KernelArguments& tensors) {
  return tensors.get(tensor);
}

// "add" of at::_ops::add_out: a literal, for errors and traces.
template <class Op>
constexpr const char* kShortName = Op::name + std::string_view("aten::").size();

template <class T>
const at::Tensor* if_tensor(const T&) {
  return nullptr;
}
inline const at::Tensor* if_tensor(const at::Tensor& tensor) { return &tensor; }

// The device of all tensors; throws if they are on several.
inline c10::Device one_device(const char* name,
                              std::initializer_list<const at::Tensor*> tensors) {
  const at::Tensor* first = nullptr;
  for (const at::Tensor* tensor : tensors) {
    if (tensor == nullptr) {
      continue;
    }
    first = first == nullptr ? tensor : first;
    TORCH_CHECK(tensor->device() == first->device(),
                "Expected all tensors to be on the same device, but found at least two "
                "devices, ",
                first->device(), " and ", tensor->device(), ", in ", name);
  }
  return first->device();
}

// LITERALINCLUDE START: SPARSE_KERNEL
// A kernel that calls the operator `Op` of at::_ops with what `args` are on the device.
// `written` is the one of them that it writes, if any.
template <class Op, class... Args>
std::function<at::Tensor()> kernel_of(std::optional<SparseKernelTensorArg> written,
                                      const Args&... args) {
  return [written = std::move(written), captured = std::tuple(capture_any(args)...)] {
    KernelArguments tensors;
    if (written.has_value()) {
      tensors.get(*written);
    }
    auto values = std::apply(
        [&](const auto&... each) { return std::tuple{argument(each, tensors)...}; },
        captured);
    return std::apply([](auto&... value) { return Op::call(value...); }, values);
  };
}
// LITERALINCLUDE END: SPARSE_KERNEL

// LITERALINCLUDE START: SPARSE_OPERATOR
// The operator `Op` for a device. Its result has as many elements as the kernel finds.
template <class Op, class Schema = typename Op::schema>
struct SparseOperator;

template <class Op, class... Args>
struct SparseOperator<Op, at::Tensor(Args...)> {
  static at::Tensor call(Args... args) {
    return launch_and_wait(kShortName<Op>,
                           one_device(kShortName<Op>, {if_tensor(args)...}),
                           kernel_of<Op>(std::nullopt, args...));
  }
};

template <class Op, class... Args>
struct SparseOperator<Op, at::Tensor&(Args...)> {  // the last argument is out=
  static at::Tensor& call(Args... args) {
    one_device(kShortName<Op>, {if_tensor(args)...});
    at::Tensor& out = std::get<sizeof...(Args) - 1>(std::tie(args...));
    const SparseKernelTensorArg written(out, SparseKernelTensorArg::Access::Copy);
    launch_and_wait_into(kShortName<Op>, out, kernel_of<Op>(written, args...));
    return out;
  }
};
// LITERALINCLUDE END: SPARSE_OPERATOR

template <class Op>
void sparse_operator(torch::Library& m) {
  const c10::OperatorName name(Op::name, Op::overload_name);
  m.impl(c10::toString(name).c_str(), &SparseOperator<Op>::call);
}

}  // namespace openreg
