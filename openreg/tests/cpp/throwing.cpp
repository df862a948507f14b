// Operators whose kernels throw C++ exceptions; see docs/runtime/errors.md.
#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include <stdexcept>

#include "csrc/kernels/cpu/HostKernel.h"

namespace {

const c10::Device kDevice(c10::DeviceType::PrivateUse1, 0);

void throw_torch() {
  openreg::cpu::launch_on("throw_torch", kDevice,
                          [] { TORCH_CHECK(false, "thrown by torch"); });
}

void throw_standard() {
  openreg::cpu::launch_on("throw_standard", kDevice,
                          [] { throw std::runtime_error("thrown by the library"); });
}

void throw_number() {
  openreg::cpu::launch_on("throw_number", kDevice, [] { throw 7; });
}

}  // namespace

TORCH_LIBRARY(openreg_throwing, m) {
  m.def("torch() -> ()", throw_torch);
  m.def("standard() -> ()", throw_standard);
  m.def("number() -> ()", throw_number);
}
