// Turns a structured operator of ATen into three operators of the device; see
// docs/operators/structured.md.
#include "csrc/aten/structured/Structured.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/op_registration/adaption.h>

namespace openreg {

DeviceIndex device_of(const char* name, bool all,
                      at::ArrayRef<const at::Tensor*> tensors) {
  std::optional<c10::Device> device;
  for (const at::Tensor* tensor : tensors) {
    if (tensor->defined() && (all || tensor->is_privateuseone())) {
      if (!all) {
        return tensor->device().index();
      }
      c10::impl::check_and_update_common_device(device, *tensor, name, "one of them");
    }
  }
  TORCH_CHECK(device.has_value() && device->is_privateuseone(), "openreg: ", name,
              " was called without a tensor on the openreg device");
  return device->index();
}

bool is_operator(const std::string& overload) {
  const size_t dot = overload.find('.');
  const std::string name = "aten::" + overload.substr(0, dot);
  const std::string suffix = dot == std::string::npos ? "" : overload.substr(dot + 1);
  return c10::Dispatcher::singleton().findSchema({name, suffix}).has_value();
}

}  // namespace openreg
