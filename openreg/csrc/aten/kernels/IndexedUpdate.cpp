// Kernels that update elements which an index or a mask selects; see
// docs/operators/structured.md.
#include "csrc/aten/kernels/IndexedUpdate.h"

#include <ATen/ops/repeat_interleave.h>

#include "csrc/kernels/cpu/Quiet.h"

namespace openreg::kernels {

at::Tensor& index_fill_out(int64_t dim, const at::Tensor& index,
                           const at::Scalar& value, at::Tensor& out) {
  const cpu::Quiet quiet;  // the host has warned
  return out.index_fill_(dim, index, value);
}

at::Tensor& masked_scatter_out(const at::Tensor& mask, const at::Tensor& source,
                               at::Tensor& out) {
  return out.masked_scatter_(mask, source);
}

at::Tensor& repeat_interleave_out(const at::Tensor& repeats, at::Tensor& out) {
  const at::Tensor all = at::repeat_interleave(repeats, std::nullopt);
  TORCH_CHECK(all.numel() == out.numel(), "repeat_interleave: allocated size does not ",
              "match required size: output_size=", out.numel(), ", but the repeats ",
              "give ", all.numel());
  return out.copy_(all);
}

}  // namespace openreg::kernels
