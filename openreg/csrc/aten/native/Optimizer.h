// Operators that update lists of tensors in place; see docs/operators/structured.md.
#pragma once

#include <torch/library.h>

#include "csrc/aten/native/OptionalTensor.h"
#include "csrc/aten/native/Structured.h"

namespace openreg {

// LITERALINCLUDE START: IN_PLACE_LISTS
// What a kernel keeps of an argument, when the schema lets it write to every tensor.
template <class T>
auto capture_writable(const T& value) {
  if constexpr (std::is_same_v<T, at::Tensor>) {
    return KernelTensor(value);
  } else if constexpr (std::is_same_v<T, at::TensorList>) {
    return std::vector<KernelTensor>(value.begin(), value.end());
  } else if constexpr (std::is_same_v<T, std::optional<at::Tensor>>) {
    return capture(value);
  } else {
    return value;
  }
}

template <class T>
auto writable_on_device(const T& captured) {
  if constexpr (std::is_same_v<T, KernelTensor>) {
    return captured.on_device();
  } else if constexpr (std::is_same_v<T, std::optional<KernelTensor>>) {
    return if_given(captured);
  } else if constexpr (std::is_same_v<T, std::vector<KernelTensor>>) {
    return Argument<at::ITensorListRef>::on_device(captured);
  } else {
    return captured;
  }
}

template <class Op, auto* kFunction, class Schema>
struct Update;

// One launch for a whole list of parameters.
template <class Op, auto* kFunction, class Result, class... Args>
struct Update<Op, kFunction, Result(Args...)> {
  static Result call(Args... args) {
    c10::SmallVector<const at::Tensor*, 16> tensors;
    const auto collect = [&]<class T>(const T& value) {
      if constexpr (std::is_same_v<T, at::TensorList>) {
        for (const at::Tensor& tensor : value) {
          tensors.push_back(&tensor);
        }
      } else if constexpr (std::is_same_v<T, at::Tensor>) {
        if (value.dim() > 0 || value.is_privateuseone()) {  // a number may stay there
          tensors.push_back(&value);
        }
      }
    };
    (collect(args), ...);
    const DeviceIndex device = device_of(kNameOf<Op>, /*all=*/true, tensors);
    launch(kNameOf<Op>, c10::Device(c10::kPrivateUse1, device),
           [captured = std::tuple(capture_writable<std::decay_t<Args>>(args)...)] {
             std::apply(
                 [](const auto&... each) {
                   std::tuple values(writable_on_device(each)...);
                   std::apply([](auto&... value) { kFunction(value...); }, values);
                 },
                 captured);
           });
    if constexpr (!std::is_void_v<Result>) {
      return std::get<0>(std::tie(args...));
    }
  }
};
// LITERALINCLUDE END: IN_PLACE_LISTS

// Registers an operator that returns nothing or its first argument.
template <class Op, typename Op::schema* kFunction>
void update(torch::Library& m) {
  m.impl(overload_of<Op>(), &Update<Op, kFunction, typename Op::schema>::call);
}

}  // namespace openreg
