// Kernels that write elements by index or mask, or count them; see
// docs/operators/structured.md.
#include "csrc/aten/kernels/Indexing.h"

#include <ATen/ops/_index_put_impl.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/sum.h>

#include "csrc/kernels/cpu/Quiet.h"

// Where elements of `out` share memory, these kernels compute all the same. The host
// has already warned of that, so each drops the warnings of ATen.
namespace openreg::kernels {

void masked_fill(at::Tensor out, const at::Tensor& mask, const at::Tensor& value) {
  const cpu::Quiet quiet;
  out.masked_fill_(mask, value);
}

void masked_fill(at::Tensor out, const at::Tensor& mask, const at::Scalar& value) {
  const cpu::Quiet quiet;
  out.masked_fill_(mask, value);
}

void index_put(at::Tensor out, const c10::List<std::optional<at::Tensor>>& indices,
               const at::Tensor& values, bool accumulate, bool unsafe) {
  const cpu::Quiet quiet;
  at::_index_put_impl_(out, indices, values, accumulate, unsafe);
}

// The CPU's own operator takes fewer dtypes than CUDA's.
at::Tensor count_nonzero(const at::Tensor& self, at::IntArrayRef dim) {
  return at::ne(self, 0).sum(dim);
}

}  // namespace openreg::kernels
