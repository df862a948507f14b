// Random numbers made on the CPU; see docs/opencl/kernels.md.
#include "csrc/kernels/RandomOnHost.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/empty.h>

#include <string>

#include "csrc/aten/ops/Fallback.h"

namespace ocl::opencl {

void fill_on_host(const char* name, const at::Tensor& self,
                  const PhiloxKernelState& random, const FillOnHost& fill) {
  TORCH_CHECK(random.of_graph() == nullptr, "ocl: ", name, " of ", self.scalar_type(),
              " has no kernel on this device, so that a graph cannot capture it; draw ",
              "the numbers before the capture");
  count_fallback(std::string("aten::") + name + "_");
  constexpr uint64_t kMix = 0x9E3779B97F4A7C15;  // so that successive draws differ
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(
      random.state().seed ^ (random.state().offset * kMix));
  at::Tensor numbers = at::empty(self.sizes(), self.options().device(at::kCPU));
  fill(numbers, generator);
  self.copy_(numbers);
}

}  // namespace ocl::opencl
