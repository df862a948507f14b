// Operators that change the order of elements; see docs/operators/structured.md.
#include "csrc/aten/NativeFunctions.h"

#include <ATen/WrapDimUtilsMulti.h>
#include <ATen/ops/channel_shuffle.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/flip.h>

#include "csrc/aten/launch/LaunchOut.h"
#include "csrc/aten/ops/HostCheck.h"

namespace openreg {

at::Tensor flip(const at::Tensor& self, at::IntArrayRef dims) {
  at::dim_list_to_bitset(dims, self.dim());  // throws for a wrong or a repeated one
  const at::Tensor out = at::empty_like(self, at::MemoryFormat::Preserve);
  launch_out(
      "flip",
      static_cast<at::Tensor& (*)(const at::Tensor&, at::IntArrayRef, at::Tensor&)>(
          at::flip_outf),
      std::array{out}, self, dims);
  return out;
}

// Made of views and one copy.
at::Tensor channel_shuffle(const at::Tensor& self, int64_t groups) {
  check_arguments(
      self.dim() > 2 && groups > 0 && self.size(1) % groups == 0 && has_elements(self),
      [&] { at::channel_shuffle(zeros_for(self), groups); });
  if (self.numel() == 0) {
    return self.alias();
  }
  return self.reshape({self.size(0), groups, self.size(1) / groups, -1})
      .transpose(1, 2)
      .reshape(self.sizes())
      .contiguous(self.suggest_memory_format());
}

}  // namespace openreg
