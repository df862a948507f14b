// Operators that read or write elements by index or mask; see
// docs/operators/structured.md.
#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/IndexingUtils.h>
#include <ATen/native/TensorAdvancedIndexingUtils.h>
#include <ATen/ops/index_meta.h>
#include <ATen/ops/index_ops.h>
#include <ATen/ops/zeros.h>
#include <c10/core/Scalar.h>
#include <torch/library.h>

#include <algorithm>
#include <optional>

#include "csrc/aten/ops/CheckScalar.h"
#include "csrc/aten/ops/HostCheck.h"
#include "csrc/aten/structured/Structured.h"
#include "csrc/kernels/Indexing.h"

namespace openreg {
namespace {

using kernels::IndexList;

using Launch = void(const StructuredCall&, const at::Tensor&, const IndexList&,
                    at::Tensor&);

void launch_index(const StructuredCall&, const at::Tensor& self,
                  const IndexList& numbers, at::Tensor& out) {
  kernels::index(self, numbers, out);
}

const auto& index_op() {
  static const auto* const op =
      new OperatorWith<at::_ops::index_Tensor, at::meta::structured_index_Tensor,
                       Launch*>(launch_index);
  return *op;
}

// Warns, as the CPU does, if elements of `self`, which `name` writes, share memory: the
// result depends on the order. `also`: the end of the sentence.
void warn_of_expanded(const char* name, const at::Tensor& self, const char* also) {
  if (at::has_internal_overlap(self) == at::MemOverlap::Yes) {
    TORCH_WARN("Use of ", name, " on expanded tensors is deprecated. Please clone() ",
               "the tensor before performing this operation. This also applies to ",
               also);
  }
}

bool any_given(const IndexList& indices) {
  return std::any_of(indices.begin(), indices.end(),
                     [](const auto& index) { return is_given(index); });
}

// The indices as numbers on the device of `self`. They may come from the CPU on every
// device, and a list of them from several. A mask becomes numbers here, once: the host
// waits for how many, as it does on CUDA.
IndexList as_numbers(const at::Tensor& self, const IndexList& indices) {
  TORCH_CHECK_INDEX(static_cast<int64_t>(indices.size()) <= self.dim(),
                    "too many indices for tensor of dimension ", self.dim(), " (got ",
                    indices.size(), ")");
  at::native::checkIndexTensorTypes(indices, /*allow_int=*/true);
  bool masks = false;
  IndexList moved;
  moved.reserve(indices.size());
  for (const std::optional<at::Tensor>& index : indices) {
    const bool given = is_given(index);
    masks |= given &&
             (index->scalar_type() == at::kBool || index->scalar_type() == at::kByte);
    const bool move = given && index->device() != self.device();
    moved.push_back(move ? std::make_optional(index->to(self.device())) : index);
  }
  return masks ? at::native::toListOfOptionalTensors(
                     at::native::expandTensors(self, moved))
               : moved;
}

// The values as an argument of a kernel: one value may come from any device.
at::Tensor values_for(const at::Tensor& self, const at::Tensor& values) {
  if (values.dim() > 0) {
    check_same_device("index_put_", self, values);
  }
  const bool known = values.is_cpu() || values.device() == self.device();
  return known ? values : values.to(self.device());
}

// The sizes of what `numbers` select.
c10::DimVector sizes_of_selection(const at::Tensor& self, const IndexList& numbers) {
  auto each = at::native::expandTensors(self, numbers);  // there are no masks any more
  try {
    each = at::expand_outplace(each);
  } catch (const std::exception&) {
    TORCH_CHECK_INDEX(false, "shape mismatch: indexing tensors could not be broadcast ",
                      "together with shapes ", at::native::shapes_as_str(each));
  }
  each.resize(self.dim());
  auto [view, order] = at::native::hasContiguousSubspace(each)
                           ? std::make_tuple(self, each)
                           : at::native::transposeToFront(self, each);
  c10::DimVector sizes;
  bool indexed = false;
  for (const auto dim : c10::irange(view.dim())) {
    if (!order[dim].defined()) {
      sizes.push_back(view.size(dim));
      continue;
    }
    TORCH_CHECK_INDEX(view.size(dim) > 0 || order[dim].numel() == 0,
                      "index is out of bounds for dimension with size 0");
    if (!std::exchange(indexed, true)) {
      sizes.append(order[dim].sizes().begin(), order[dim].sizes().end());
    }
  }
  return sizes;
}

// Throws unless `values` can be written to what `numbers` select.
void check_values(const at::Tensor& self, const IndexList& numbers,
                  const at::Tensor& values) {
  at::assert_no_overlap(self, values);
  for (const std::optional<at::Tensor>& index : numbers) {
    if (is_given(index)) {
      at::assert_no_overlap(self, *index);
    }
  }
  TORCH_CHECK(any_given(numbers),
              "at least one index must be provided: a mask has dimensions");
  const c10::DimVector sizes = sizes_of_selection(self, numbers);
  TORCH_CHECK(at::is_expandable_to(values.sizes(), sizes),
              "shape mismatch: value tensor of shape ", values.sizes(),
              " cannot be broadcast to indexing result of shape ",
              at::IntArrayRef(sizes));
  TORCH_CHECK(self.scalar_type() == values.scalar_type(),
              "Index put requires the source and destination dtypes match, got ",
              self.scalar_type(), " for the destination and ", values.scalar_type(),
              " for the source.");
}

void check_mask(const char* name, const at::Tensor& self, const at::Tensor& mask) {
  TORCH_CHECK(mask.scalar_type() == at::kBool, name,
              " only supports boolean masks, but got mask with dtype ", mask.dtype());
  warn_of_expanded(name, self, "advanced indexing e.g. tensor[mask] = scalar");
  at::assert_no_partial_overlap(self, mask);
  const auto sizes = at::infer_size_dimvector(self.sizes(), mask.sizes());
  TORCH_CHECK(self.sizes() == at::IntArrayRef(sizes), "output with shape ",
              self.sizes(), " doesn't match the broadcast shape ",
              at::IntArrayRef(sizes));
}

// The mask of `self[..., mask] = value`, with the dimensions of `self`; undefined if
// `indices` are anything else.
at::Tensor lone_mask(const at::Tensor& self, const IndexList& indices) {
  static const auto* host_value = new at::Tensor(at::zeros({}));
  return any_given(indices) ? std::get<1>(at::native::canDispatchToMaskedFill(
                                  self, indices, *host_value))
                            : at::Tensor();
}

at::Tensor index(const at::Tensor& self, const IndexList& indices) {
  return index_op().compute(Form::Functional, {}, self, as_numbers(self, indices))[0];
}

at::Tensor& index_out(const at::Tensor& self, const IndexList& indices,
                      at::Tensor& out) {
  index_op().compute(Form::Out, {out}, self, as_numbers(self, indices));
  return out;
}

at::Tensor& masked_fill_scalar_(at::Tensor& self, const at::Tensor& mask,
                                const at::Scalar& value) {
  check_same_device("masked_fill_", self, mask);
  check_mask("masked_fill_", self, mask);
  check_scalar(value, self.scalar_type());
  kernels::masked_fill(self, mask, value);
  return self;
}

// self[mask] = value, for one value: unlike indices, a mask needs no wait.
at::Tensor& fill_where(at::Tensor& self, const at::Tensor& mask,
                       const at::Tensor& value) {
  if (value.scalar_type() != self.scalar_type()) {
    return masked_fill_scalar_(self, mask, value.item());
  }
  check_mask("masked_fill_", self, mask);
  kernels::masked_fill(self, mask, value.reshape({}));
  return self;
}

at::Tensor& index_put_impl_(at::Tensor& self, const IndexList& indices,
                            const at::Tensor& given, bool accumulate, bool unsafe) {
  const at::Tensor values = values_for(self, given);
  warn_of_expanded("index_put_", self,
                   "advanced indexing e.g. tensor[indices] = tensor");
  if (!accumulate && values.numel() == 1) {
    if (const at::Tensor mask = lone_mask(self, indices); mask.defined()) {
      return fill_where(self, mask, values);
    }
  }
  const IndexList numbers = as_numbers(self, indices);
  check_values(self, numbers, values);
  kernels::index_put(self, numbers, values, accumulate, unsafe);
  return self;
}

at::Tensor& masked_fill_tensor_(at::Tensor& self, const at::Tensor& mask,
                                const at::Tensor& value) {
  TORCH_CHECK(
      value.dim() == 0,
      "masked_fill_ only supports a 0-dimensional value tensor, but got tensor ",
      "with ", value.dim(), " dimension(s).");
  return masked_fill_scalar_(self, mask, value.item());  // waits, as on CUDA
}

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
    kernels::index_fill(self, axis, index, value);
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

// Too few elements in `source` is a device fault, as on CUDA.
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
  kernels::masked_scatter(self, mask, source);
  return self;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("index.Tensor", index);
  m.impl("index.Tensor_out", index_out);
  m.impl("_index_put_impl_", index_put_impl_);
  m.impl("masked_fill_.Scalar", masked_fill_scalar_);
  m.impl("masked_fill_.Tensor", masked_fill_tensor_);
  m.impl("index_fill_.int_Scalar", index_fill_scalar_);
  m.impl("index_fill_.int_Tensor", index_fill_tensor_);
  m.impl("masked_scatter_", masked_scatter_);
}

}  // namespace
}  // namespace openreg
