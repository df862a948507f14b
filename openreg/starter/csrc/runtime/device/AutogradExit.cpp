// Waits for autograd's threads at exit; see docs/start/first-backend.md.
#include "csrc/runtime/device/AutogradExit.h"

#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>

#include <thread>

#include "csrc/runtime/device/StarterFunctions.h"

namespace starter {

// LITERALINCLUDE START: STARTER_AUTOGRAD_EXIT
// A thread of autograd drops the Python objects of a backward pass after the pass has
// returned. If Python has ended by then, the process aborts. A thread starts the next
// pass after that, so one more pass on each device, from a thread that holds no Python
// objects, shows that the earlier passes are released.
void drain_autograd_threads() noexcept {
  const auto one_pass_on_each_device = [] {
    try {
      for (c10::DeviceIndex index = 0; index < device_count(); ++index) {
        const at::Tensor gradient = at::zeros({1}, at::device(device_at(index)));
        const at::Tensor leaf = gradient.clone().set_requires_grad(true);
        torch::autograd::backward({leaf.view({1})}, {gradient});
      }
    } catch (const std::exception&) {  // a faulty device; the process is exiting
    }
  };
  try {
    std::thread(one_pass_on_each_device).join();
  } catch (const std::system_error&) {  // no more threads
  }
}
// LITERALINCLUDE END: STARTER_AUTOGRAD_EXIT

}  // namespace starter
