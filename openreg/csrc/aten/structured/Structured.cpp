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

DeviceIndex device_of(const char* name, bool all, at::ArrayRef<at::Tensor> outputs,
                      const ArgumentFacts& facts) {
  c10::SmallVector<const at::Tensor*, 8> tensors;
  for (const at::Tensor& output : outputs) {
    tensors.push_back(&output);
  }
  for (const ArgumentFacts::Operand& operand : facts.tensors) {
    tensors.push_back(operand.tensor);
  }
  return device_of(name, all, tensors);
}

const char* inplace_overload(const char* name, const char* overload_name) {
  const std::string inplace = c10::str(name, '_');
  const c10::OperatorName full("aten::" + inplace, overload_name);
  const bool there = c10::Dispatcher::singleton().findSchema(full).has_value();
  return there ? overload(inplace.c_str(), overload_name) : nullptr;
}

}  // namespace openreg
