// Checks the arguments of operators that update lists of tensors in place; see
// docs/operators/structured.md.
#include "csrc/aten/meta/Optimizer.h"

#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_amp_update_scale.h>

#include <algorithm>
#include <vector>

#include "csrc/aten/ops/CheckScalar.h"
#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

bool is_number(const at::Tensor& tensor, at::ScalarType dtype) {
  return tensor.numel() == 1 && tensor.scalar_type() == dtype;
}

bool is_floating(const at::Tensor& tensor) {
  return is_common_floating(tensor.scalar_type());
}

}  // namespace

void check_lists(const char* name, at::ArrayRef<at::TensorList> lists, bool has_steps) {
  const at::TensorList parameters = lists.front();
  for (const at::Tensor& parameter : parameters) {
    TORCH_CHECK_NOT_IMPLEMENTED(is_floating(parameter), "\"", name,
                                "\" not implemented for '", parameter.scalar_type(),
                                "'");
  }
  for (const size_t place : c10::irange(lists.size())) {
    const at::TensorList list = lists[place];
    if (list.empty()) {
      continue;  // such as the momentum of a first step
    }
    TORCH_CHECK(list.size() == parameters.size(), name, ": ", parameters.size(),
                " parameters, but a list of ", list.size(), " tensors");
    const bool steps = has_steps && place + 1 == lists.size();
    for (const size_t i : c10::irange(list.size())) {
      const at::Tensor &tensor = list[i], &parameter = parameters[i];
      TORCH_CHECK(!steps || is_number(tensor, at::kFloat), name,
                  ": a step must be a Float tensor of 1 element, but is ",
                  tensor.scalar_type(), " of size ", tensor.sizes());
      TORCH_CHECK(steps || tensor.scalar_type() == parameter.scalar_type(),
                  "expected scalar type ", parameter.scalar_type(), " but found ",
                  tensor.scalar_type());
      TORCH_CHECK(steps || tensor.sizes() == parameter.sizes(), name,
                  ": a parameter of size ", parameter.sizes(),
                  " has a gradient or a state of size ", tensor.sizes());
    }
  }
}

void Unscale::check(const char*, at::TensorList grads, const at::Tensor& found_inf,
                    const at::Tensor& inverse_scale) {
  const bool valid = is_number(found_inf, at::kFloat) &&
                     is_number(inverse_scale, at::kFloat) &&
                     std::all_of(grads.begin(), grads.end(), is_floating);
  check_arguments(valid, [&] {
    std::vector<at::Tensor> zeros;
    for (const at::Tensor& grad : grads) {
      zeros.push_back(zeros_for(grad));
    }
    at::Tensor found = zeros_for(found_inf);
    at::_amp_foreach_non_finite_check_and_unscale_(zeros, found,
                                                   zeros_for(inverse_scale));
  });
}

void UpdateScale::check(const char*, const at::Tensor& scale,
                        const at::Tensor& growth_tracker, const at::Tensor& found_inf,
                        double growth_factor, double backoff_factor,
                        int64_t growth_interval) {
  const bool valid = is_number(scale, at::kFloat) &&
                     is_number(growth_tracker, at::kInt) &&
                     is_number(found_inf, at::kFloat);
  check_arguments(valid, [&] {
    at::Tensor zero = zeros_for(scale), tracker = zeros_for(growth_tracker);
    at::_amp_update_scale_(zero, tracker, zeros_for(found_inf), growth_factor,
                           backoff_factor, growth_interval);
  });
}

}  // namespace openreg
