// Fused optimizers, one launch a parameter, and what GradScaler needs; see
// docs/opencl/kernels.md.
#include "csrc/aten/meta/Optimizer.h"

#include <ATen/Operators.h>
#include <c10/util/irange.h>

#include "csrc/aten/common/TensorArguments.h"
#include "csrc/aten/structured/Signature.h"
#include "csrc/kernels/OptimizerSource.h"
#include "csrc/kernels/opencl/Fallback.h"
#include "csrc/kernels/opencl/Launch.h"
#include "csrc/runtime/device/OclGuard.h"

namespace ocl::opencl::optimizer {
namespace {

namespace op = at::_ops;
using at::Tensor;
using at::TensorList;
using OptionalTensor = std::optional<Tensor>;

at::ScalarType real_dtype() { return supports(at::kDouble) ? at::kDouble : at::kFloat; }
Number real(double value) { return {value, real_dtype()}; }

std::string options_for(const Tensor& tensor) {
  return define("T", tensor.scalar_type()) + define("C", real_dtype());
}

// A learning rate: a number, or a tensor. One on the CPU is a number.
struct Rate {
  double number = 0;
  Tensor tensor;

  explicit Rate(double rate) : number(rate) {}
  explicit Rate(const Tensor& rate) {
    if (rate.is_cpu()) {
      number = rate.item().to<double>();
    } else {
      tensor = rate.to(at::kFloat);
    }
  }
};

// What all fused optimizers have.
struct Step {
  TensorList parameters, grads;
  double weight_decay;
  bool maximize;
  Rate rate;
  const OptionalTensor &scale, &found_inf;

  void launch(const char* name, size_t i, const auto&... args) const {
    const Tensor& parameter = parameters[i];
    const int64_t count = parameter.numel();
    opencl::launch(kOptimizers, name, options_for(parameter), Range::items(count),
                   writes(parameter), writes(grads[i]), count, int32_t{maximize},
                   real(rate.number), real(weight_decay), rate.tensor,
                   or_undefined(scale), or_undefined(found_inf), args...);
  }
};

// Checks a call, and returns whether kernels take it: all tensors of a parameter dense
// and with the same strides, so that an index means the same element in each.
template <class Check, class... Args>
bool takes_lists(const char* name, TensorList parameters, const Args&... args) {
  std::optional<c10::Device> device;
  const auto check_device = [&](const Tensor& tensor) {
    if (!tensor.is_cpu() || tensor.dim() > 0) {  // a learning rate may stay there
      c10::impl::check_and_update_common_device(device, tensor, name, "a list");
    }
  };
  for_each_tensor(check_device, parameters, args...);
  Check::check(name, parameters, args...);
  bool taken = true;
  const auto check_layout = [&]<class T>(const T& list) {
    if constexpr (std::is_same_v<T, TensorList>) {
      for (const auto i : c10::irange(list.size())) {
        const Tensor& parameter = parameters[i];
        taken = taken && supports({list[i]}) &&
                list[i].is_non_overlapping_and_dense() &&
                (list[i].numel() == 1 || list[i].strides() == parameter.strides());
      }
    }
  };
  check_layout(parameters);
  (check_layout(args), ...);
  return taken;
}

const Tensor& at_or_none(TensorList list, size_t i) {
  static const Tensor& none = *new Tensor;
  return list.empty() ? none : list[i];
}

template <class Op, class Lr>
void sgd(TensorList self, TensorList grads, TensorList buffers, double weight_decay,
         double momentum, Lr lr, double dampening, bool nesterov, bool maximize,
         bool first, const OptionalTensor& scale, const OptionalTensor& found_inf) {
  const OclGuard guard(first_device(kNameOf<Op>, self, grads));
  if (!takes_lists<Sgd>(kNameOf<Op>, self, grads, buffers, weight_decay, momentum, lr,
                        scale, found_inf)) {
    return fall_back<Op>(self, grads, buffers, weight_decay, momentum, lr, dampening,
                         nesterov, maximize, first, scale, found_inf);
  }
  const Step step{self, grads, weight_decay, maximize, Rate(lr), scale, found_inf};
  for (const auto i : c10::irange(self.size())) {
    step.launch("sgd", i, writes(at_or_none(buffers, i)), real(momentum),
                real(dampening), int32_t{nesterov}, int32_t{first});
  }
}

template <class Op, bool kDecoupled, class Lr>
void adam(TensorList self, TensorList grads, TensorList means, TensorList squares,
          TensorList largest, TensorList steps, Lr lr, double beta1, double beta2,
          double weight_decay, double eps, bool amsgrad, bool maximize,
          const OptionalTensor& scale, const OptionalTensor& found_inf) {
  const OclGuard guard(first_device(kNameOf<Op>, self, grads));
  if (!takes_lists<Lists<true>>(kNameOf<Op>, self, grads, means, squares, largest,
                                steps, lr, scale, found_inf)) {
    return fall_back<Op>(self, grads, means, squares, largest, steps, lr, beta1, beta2,
                         weight_decay, eps, amsgrad, maximize, scale, found_inf);
  }
  const Step step{self, grads, weight_decay, maximize, Rate(lr), scale, found_inf};
  for (const auto i : c10::irange(self.size())) {
    step.launch("adam", i, writes(means[i]), writes(squares[i]),
                writes(amsgrad ? largest[i] : Tensor()), steps[i], real(beta1),
                real(beta2), real(eps), int32_t{kDecoupled});
  }
}

template <class Op, class Lr>
void adagrad(TensorList self, TensorList grads, TensorList sums, TensorList steps,
             Lr lr, double lr_decay, double weight_decay, double eps, bool maximize,
             const OptionalTensor& scale, const OptionalTensor& found_inf) {
  const OclGuard guard(first_device(kNameOf<Op>, self, grads));
  if (!takes_lists<Lists<true>>(kNameOf<Op>, self, grads, sums, steps, lr, scale,
                                found_inf)) {
    return fall_back<Op>(self, grads, sums, steps, lr, lr_decay, weight_decay, eps,
                         maximize, scale, found_inf);
  }
  const Step step{self, grads, weight_decay, maximize, Rate(lr), scale, found_inf};
  for (const auto i : c10::irange(self.size())) {
    step.launch("adagrad", i, writes(sums[i]), steps[i], real(lr_decay), real(eps));
  }
}

void unscale(TensorList grads, Tensor& found_inf, const Tensor& inverse_scale) {
  const char* name = kNameOf<op::_amp_foreach_non_finite_check_and_unscale_>;
  const OclGuard guard(first_device(name, grads, found_inf));
  check_same_device(name, grads, found_inf, inverse_scale);
  Unscale::check(name, grads, found_inf, inverse_scale);
  for (const Tensor& grad : grads) {
    if (!supports({grad}) || !grad.is_non_overlapping_and_dense()) {
      return fall_back<op::_amp_foreach_non_finite_check_and_unscale_>(grads, found_inf,
                                                                       inverse_scale);
    }
  }
  for (const Tensor& grad : grads) {
    launch(kOptimizers, "unscale", options_for(grad), Range::items(grad.numel()),
           writes(grad), grad.numel(), writes(found_inf), inverse_scale);
  }
}

Tensor& update_scale(Tensor& scale, Tensor& growth_tracker, const Tensor& found_inf,
                     double growth, double backoff, int64_t interval) {
  const char* name = kNameOf<op::_amp_update_scale_>;
  const OclGuard guard(first_device(name, scale));
  check_same_device(name, scale, growth_tracker, found_inf);
  UpdateScale::check(name, scale, growth_tracker, found_inf, growth, backoff, interval);
  launch(kOptimizers, "update_scale", options_for(scale), Range({1}), writes(scale),
         writes(growth_tracker), found_inf, real(growth), real(backoff),
         static_cast<int32_t>(interval));
  return scale;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  using Lr = const Tensor&;
  m.impl("_fused_sgd_", sgd<op::_fused_sgd_, double>);
  m.impl("_fused_sgd_.tensor_lr", sgd<op::_fused_sgd__tensor_lr, Lr>);
  m.impl("_fused_adam_", adam<op::_fused_adam_, false, double>);
  m.impl("_fused_adam_.tensor_lr", adam<op::_fused_adam__tensor_lr, false, Lr>);
  m.impl("_fused_adamw_", adam<op::_fused_adamw_, true, double>);
  m.impl("_fused_adamw_.tensor_lr", adam<op::_fused_adamw__tensor_lr, true, Lr>);
  m.impl("_fused_adagrad_", adagrad<op::_fused_adagrad_, double>);
  m.impl("_fused_adagrad_.tensor_lr", adagrad<op::_fused_adagrad__tensor_lr, Lr>);
  m.impl("_amp_foreach_non_finite_check_and_unscale_", unscale);
  m.impl("_amp_update_scale_", update_scale);
}

}  // namespace
}  // namespace ocl::opencl::optimizer
