// Checks the arguments of operators that update lists of tensors in place: of fused
// optimizers, and of GradScaler; see
// docs/operators/meta-functions.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

namespace openreg {

// Throws unless the lists of a fused optimizer match, with one tensor for each
// parameter. The kernels rely on this check: the CPU kernels would read beyond the end
// of a tensor that is too small. If `has_steps`, the last list has one number for each
// parameter. RuntimeError, or NotImplementedError for a dtype without kernel.
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

// The same for the operators that GradScaler calls.
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

}  // namespace openreg
