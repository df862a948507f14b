// Operators that update lists of tensors in place; see docs/operators/structured.md.
#pragma once

#include <torch/library.h>

#include "csrc/aten/launch/OptionalTensor.h"
#include "csrc/aten/launch/KernelCall.h"
#include "csrc/aten/structured/Structured.h"

namespace openreg {

// LITERALINCLUDE START: CAPTURE_WRITABLE
// What a kernel keeps of an argument, when the schema lets it write to every tensor.
template <class T>
auto capture_writable(const T& value) {
  if constexpr (std::is_same_v<T, at::Tensor>) {
    // A number on the CPU, such as a learning rate, is only read.
    return value.is_cpu() ? KernelTensorArg::input(value) : KernelTensorArg(value);
  } else if constexpr (std::is_same_v<T, at::TensorList>) {
    return std::vector<KernelTensorArg>(value.begin(), value.end());
  } else if constexpr (std::is_same_v<T, std::optional<at::Tensor>>) {
    return capture(value);
  } else {
    return value;
  }
}
// LITERALINCLUDE END: CAPTURE_WRITABLE

template <class T>
auto writable_on_device(const T& captured) {
  if constexpr (std::is_same_v<T, KernelTensorArg>) {
    return captured.alias();
  } else if constexpr (std::is_same_v<T, std::optional<KernelTensorArg>>) {
    return if_given(captured);
  } else if constexpr (std::is_same_v<T, std::vector<KernelTensorArg>>) {
    return Argument<at::ITensorListRef>::alias(captured);
  } else {
    return captured;
  }
}

template <class Op, auto* kFunction, class Check, class Schema>
struct Update;

// One launch for a whole list of parameters.
template <class Op, auto* kFunction, class Check, class Result, class... Args>
struct Update<Op, kFunction, Check, Result(Args...)> {
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
      } else if constexpr (std::is_same_v<T, std::optional<at::Tensor>>) {
        if (is_given(value)) {  // what GradScaler passes, which torch writes, too
          tensors.push_back(&*value);
        }
      }
    };
    (collect(args), ...);
    // LITERALINCLUDE START: IN_PLACE_LISTS
    std::optional<c10::Device> common;
    for (const at::Tensor* tensor : tensors) {
      c10::impl::check_and_update_common_device(common, *tensor, kNameOf<Op>, "a list");
    }
    const DeviceIndex device = common->index();
    Check::check(kNameOf<Op>, args...);
    launch(kNameOf<Op>, c10::Device(c10::kPrivateUse1, device),
           [captured = std::tuple(capture_writable<std::decay_t<Args>>(args)...)] {
             std::apply(
                 [](const auto&... each) {
                   std::tuple values(writable_on_device(each)...);
                   std::apply([](auto&... value) { kFunction(value...); }, values);
                 },
                 captured);
           });
    // LITERALINCLUDE END: IN_PLACE_LISTS
    if constexpr (!std::is_void_v<Result>) {
      return std::get<0>(std::tie(args...));
    }
  }
};

// Throws unless the lists of a fused optimizer fit together, one tensor a parameter:
// the kernels rely on it, and the CPU's read beyond the end of a tensor that is too
// small. If `has_steps`, the last list has a number a parameter. RuntimeError, or
// NotImplementedError for a dtype without kernel.
void check_lists(const char* name, at::ArrayRef<at::TensorList> lists, bool has_steps);

template <bool kHasSteps>
struct Lists {
  static void check(const char* name, const auto&... args) {
    c10::SmallVector<at::TensorList, 6> lists;
    const auto collect = [&]<class T>(const T& value) {
      if constexpr (std::is_same_v<T, at::TensorList>) {
        lists.push_back(value);
      } else if constexpr (std::is_same_v<T, at::Tensor>) {  // a learning rate
        TORCH_CHECK(value.numel() == 1, "openreg: ", name,
                    ": expected one learning rate, but got a tensor of size ",
                    value.sizes());
      }
    };
    (collect(args), ...);
    check_lists(name, lists, kHasSteps);
  }
};

// The same for SGD, whose kernels keep no buffer without momentum.
struct Sgd {
  static void check(const char* name, at::TensorList self, at::TensorList grads,
                    at::TensorList buffers, double weight_decay, double momentum,
                    const auto&... rest) {
    TORCH_CHECK(momentum != 0 || buffers.empty(), "openreg: ", name,
                ": expected no buffers for a momentum of 0, but got ", buffers.size());
    Lists<false>::check(name, self, grads, buffers, weight_decay, momentum, rest...);
  }
};

// The same for what GradScaler calls.
struct Unscale {
  static void check(const char* name, at::TensorList grads, const at::Tensor& found_inf,
                    const at::Tensor& inverse_scale);
};
struct UpdateScale {
  static void check(const char* name, const at::Tensor& scale,
                    const at::Tensor& growth_tracker, const at::Tensor& found_inf,
                    double growth_factor, double backoff_factor,
                    int64_t growth_interval);
};

// Registers an operator that returns nothing or its first argument.
template <class Op, typename Op::schema* kFunction, class Check>
void update(torch::Library& m) {
  m.impl(overload_of<Op>(), &Update<Op, kFunction, Check, typename Op::schema>::call);
}

}  // namespace openreg
