// Updates in place of elements that an index or a mask selects; see
// docs/operators/structured.md.
#include "csrc/aten/NativeFunctions.h"

#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/repeat_interleave.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/sum.h>

#include "csrc/aten/kernels/IndexedUpdate.h"
#include "csrc/aten/launch/LaunchOut.h"
#include "csrc/aten/launch/OptionalTensor.h"
#include "csrc/aten/ops/CheckScalar.h"
#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

at::Tensor& index_fill_scalar_(at::Tensor& self, int64_t dim, const at::Tensor& index,
                               const at::Scalar& value) {
  check_same_device("index_fill_", self, index);
  check_arguments(index.dim() <= 1 && index.scalar_type() == at::kLong &&
                      (self.is_complex() || !value.isComplex()) && self.dim() > 0 &&
                      self.numel() > 0,
                  [&] {
                    at::Tensor zeros = zeros_for(self);
                    zeros.index_fill_(dim, zeros_for(index), value);
                  });
  const int64_t axis = at::maybe_wrap_dim(dim, self.dim());
  check_scalar(value, self.scalar_type());
  at::assert_no_overlap(self, index);
  warn_of_expanded("index_fill_", self, "advanced indexing e.g. tensor[mask] = scalar");
  if (index.numel() > 0) {
    launch_out("index_fill_", kernels::index_fill_out, std::array{self}, axis, index,
               value);
  }
  return self;
}

at::Tensor& index_fill_tensor_(at::Tensor& self, int64_t dim, const at::Tensor& index,
                               const at::Tensor& value) {
  TORCH_CHECK(value.dim() == 0,
              "index_fill_ only supports a 0-dimensional value tensor, but got tensor "
              "with ",
              value.dim(), " dimension(s).");
  return index_fill_scalar_(self, dim, index, value.item());  // waits, as on CUDA
}

// Too few elements in `source` is a fault of the device, as on CUDA.
at::Tensor& masked_scatter_(at::Tensor& self, const at::Tensor& mask,
                            const at::Tensor& source) {
  check_same_device("masked_scatter_", self, mask, source);
  at::assert_no_internal_overlap(self);
  check_arguments(self.scalar_type() == source.scalar_type() &&
                      mask.scalar_type() == at::kBool &&
                      at::is_expandable_to(mask.sizes(), self.sizes()),
                  [&] {
                    at::Tensor zeros = zeros_for(self);
                    zeros.masked_scatter_(zeros_for(mask), zeros_for(source));
                  });
  launch_out("masked_scatter_", kernels::masked_scatter_out, std::array{self}, mask,
             source);
  return self;
}

// The host waits for the number of elements, unless the caller has it.
at::Tensor repeat_interleave(const at::Tensor& repeats,
                             std::optional<int64_t> output_size) {
  const bool is_index =
      repeats.scalar_type() == at::kLong || repeats.scalar_type() == at::kInt;
  check_arguments(repeats.dim() == 1 && is_index,
                  [&] { at::repeat_interleave(zeros_for(repeats), output_size); });
  if (repeats.size(0) == 0) {
    return at::empty({0}, repeats.options());
  }
  int64_t total = output_size.value_or(0);
  if (!output_size.has_value()) {  // the host waits once, for both numbers
    const at::Tensor both =
        at::stack({repeats.sum(), repeats.min().to(at::kLong)}).cpu();
    const auto* numbers = both.const_data_ptr<int64_t>();
    TORCH_CHECK(numbers[1] >= 0, "repeats can not be negative");
    total = numbers[0];
  }
  TORCH_CHECK(total >= 0, "repeats can not be negative");
  const at::Tensor out = at::empty({total}, repeats.options());
  launch_out("repeat_interleave", kernels::repeat_interleave_out, std::array{out},
             repeats);
  return out;
}

}  // namespace

void register_indexed_updates(torch::Library& m) {
  m.impl("index_fill_.int_Scalar", index_fill_scalar_);
  m.impl("index_fill_.int_Tensor", index_fill_tensor_);
  m.impl("masked_scatter_", masked_scatter_);
  m.impl("repeat_interleave.Tensor", openreg::repeat_interleave);
}

}  // namespace openreg
