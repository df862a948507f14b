// Waits for autograd's threads at exit; see docs/ship/known-crashes.md.
#include "csrc/runtime/device/AutogradExit.h"

#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>

#include <system_error>
#include <thread>

#include "csrc/runtime/device/OpenRegFunctions.h"

namespace openreg {

// LITERALINCLUDE START: WAIT_FOR_ENGINE
void drain_autograd_threads() noexcept {
  // A thread starts a backward pass after it has released the previous pass. The passes
  // made here hold no Python objects: this thread is new, so its state has none.
  const auto pass_on_each_device = [] {
    try {
      for (DeviceIndex index = 0; index < device_count(); ++index) {
        const c10::Device device(c10::DeviceType::PrivateUse1, index);
        const at::Tensor x = at::zeros({1}, at::TensorOptions(device));
        const at::Tensor root = x.clone().set_requires_grad(true).view({1});
        torch::autograd::backward({root}, {x});
      }
    } catch (const std::exception&) {
      // A device with a fault: at exit, no caller can receive the error.
    }
  };
  try {
    std::thread(pass_on_each_device).join();
  } catch (const std::system_error&) {
    // No more threads.
  }
}
// LITERALINCLUDE END: WAIT_FOR_ENGINE

}  // namespace openreg
