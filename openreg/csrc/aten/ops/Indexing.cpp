// Operators that read or write elements by index or mask; see
// docs/operators/structured.md.
#include "csrc/aten/NativeFunctions.h"

#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/ScalarOps.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/native/IndexingUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/native/TensorAdvancedIndexingUtils.h>
#include <ATen/ops/count_nonzero.h>
#include <ATen/ops/embedding_dense_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_cpu_dispatch.h>
#include <ATen/ops/index_meta.h>
#include <ATen/ops/index_ops.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/isin.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "csrc/aten/kernels/Indexing.h"
#include "csrc/aten/launch/LaunchOut.h"
#include "csrc/aten/launch/OptionalTensor.h"
#include "csrc/aten/ops/CheckScalar.h"
#include "csrc/aten/ops/HostCheck.h"
#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {
namespace {

const auto& index_op() {
  static const auto* const op =
      new OperatorWith<at::_ops::index_Tensor, at::meta::structured_index_Tensor,
                       cpu::OnCpu<at::cpu::index_outf>>({});
  return *op;
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

// Runs `kernel(self)` in place on the device. Where elements of `self` share memory, it
// computes all the same, after the warning of `warn_of_expanded`. `dtypes`: those that
// the table lists for the operator.
template <class Kernel>
void in_place(const char* name, const at::Tensor& self,
              at::ArrayRef<at::ScalarType> dtypes, Kernel kernel) {
  KernelDtypes::of(name).check(name, at::ScalarType::Undefined, dtypes, {});
  if (self.numel() > 0) {
    launch(name, self.device(),
           [out = KernelTensorArg(self), kernel] { kernel(out.alias()); });
  }
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

// self[mask] = value, for one value: unlike indices, a mask needs no wait.
at::Tensor& fill_where(at::Tensor& self, const at::Tensor& mask,
                       const at::Tensor& value) {
  if (value.scalar_type() != self.scalar_type()) {
    return masked_fill_scalar_(self, mask, value.item());
  }
  check_mask("masked_fill_", self, mask);
  const at::Tensor number = value.reshape({});
  in_place(
      "masked_fill_", self, {at::kBool, self.scalar_type()},
      [m = KernelTensorArg::input(mask), v = KernelTensorArg::input(number)](
          const at::Tensor& out) { kernels::masked_fill(out, m.alias(), v.alias()); });
  return self;
}

c10::DimVector sizes_along(const at::Tensor& self, int64_t dim,
                           const at::Tensor& index) {
  TORCH_CHECK_INDEX(index.dim() <= 1,
                    "index_select(): Index is supposed to be a vector");
  TORCH_CHECK(index.scalar_type() == at::kLong || index.scalar_type() == at::kInt,
              "index_select(): Expected dtype int32 or int64 for index");
  c10::DimVector sizes(self.sizes());
  dim = at::maybe_wrap_dim(dim, self.dim());
  if (!sizes.empty()) {
    const bool found = self.size(dim) > 0 || index.numel() == 0;
    TORCH_CHECK_INDEX(found || self.dim() > 1, "index out of range in self");
    TORCH_CHECK(found, "index_select(): self indexing axis dim should be positive");
    sizes[dim] = index.numel();
  } else {
    TORCH_CHECK(index.numel() == 1,
                "index_select(): Index to scalar can have only 1 value, got ",
                index.numel(), " value(s)");
  }
  return sizes;
}

}  // namespace

void warn_of_expanded(const char* name, const at::Tensor& self, const char* also) {
  if (at::has_internal_overlap(self) == at::MemOverlap::Yes) {
    TORCH_WARN("Use of ", name, " on expanded tensors is deprecated. Please clone() ",
               "the tensor before performing this operation. This also applies to ",
               also);
  }
}

at::Tensor index(const at::Tensor& self, const IndexList& indices) {
  return index_op().compute(Form::Functional, {}, self, as_numbers(self, indices))[0];
}

at::Tensor& index_out(const at::Tensor& self, const IndexList& indices,
                      at::Tensor& out) {
  index_op().compute(Form::Out, {out}, self, as_numbers(self, indices));
  return out;
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
  using List = Argument<IndexList>;
  in_place("index_put_", self, {at::kLong, values.scalar_type(), self.scalar_type()},
           [list = List::capture(numbers), v = KernelTensorArg::input(values),
            accumulate, unsafe](const at::Tensor& out) {
             kernels::index_put(out, List::alias(list), v.alias(), accumulate, unsafe);
           });
  return self;
}

at::Tensor& index_select_out(const at::Tensor& self, int64_t dim,
                             const at::Tensor& index, at::Tensor& out) {
  check_same_device("index_select", out, self, index);
  TORCH_CHECK(out.scalar_type() == self.scalar_type(),
              "index_select(): self and result must have the same scalar type");
  const c10::DimVector sizes = sizes_along(self, dim, index);
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  at::assert_no_overlap(out, index);
  at::native::resize_output(out, sizes);
  launch_out("index_select",
             static_cast<at::Tensor& (*)(const at::Tensor&, int64_t, const at::Tensor&,
                                         at::Tensor&)>(at::index_select_outf),
             std::array{out}, self, dim, index);
  return out;
}

at::Tensor index_select(const at::Tensor& self, int64_t dim, const at::Tensor& index) {
  at::Tensor out = at::empty({0}, self.options());
  return index_select_out(self, dim, index, out);
}

at::Tensor embedding_dense_backward(const at::Tensor& grad_output,
                                    const at::Tensor& indices, int64_t num_weights,
                                    int64_t padding_idx, bool scale_grad_by_freq) {
  check_same_device("embedding_dense_backward", grad_output, indices);
  TORCH_CHECK(indices.scalar_type() == at::kLong || indices.scalar_type() == at::kInt,
              "Expected tensor for argument #2 'indices' to have one of the following ",
              "scalar types: Long, Int; but got ", indices.toString(), " instead");
  TORCH_CHECK(grad_output.dim() > 0 &&
                  grad_output.numel() == indices.numel() * grad_output.size(-1),
              "openreg: embedding_dense_backward: expected one row for each of ",
              indices.numel(), " indices, but got a gradient of size ",
              grad_output.sizes());
  at::Tensor out =
      at::empty({num_weights, grad_output.size(-1)}, grad_output.options());
  launch_out("embedding_dense_backward", at::embedding_dense_backward_outf,
             std::array{out}, grad_output, indices, num_weights, padding_idx,
             scale_grad_by_freq);
  return out;
}

at::Tensor& masked_fill_scalar_(at::Tensor& self, const at::Tensor& mask,
                                const at::Scalar& value) {
  check_same_device("masked_fill_", self, mask);
  check_mask("masked_fill_", self, mask);
  check_scalar(value, self.scalar_type());
  in_place("masked_fill_", self, {at::kBool, self.scalar_type()},
           [m = KernelTensorArg::input(mask), value](const at::Tensor& out) {
             kernels::masked_fill(out, m.alias(), value);
           });
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

at::Tensor& masked_select_out(const at::Tensor& self, const at::Tensor& mask,
                              at::Tensor& out) {
  check_same_device("masked_select", out, self, mask);
  TORCH_CHECK(mask.scalar_type() == at::kBool,
              "masked_select: expected BoolTensor for mask");
  TORCH_CHECK(self.scalar_type() == out.scalar_type(),
              "masked_select(): self and result must have the same scalar type");
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  at::assert_no_overlap(out, mask);
  const auto [where, from] = at::expand_outplace(mask, self);
  const bool is_scalar = from->dim() == 0;
  return index_out(is_scalar ? from->unsqueeze(0) : *from,
                   IndexList({is_scalar ? where->unsqueeze(0) : *where}), out);
}

at::Tensor masked_select(const at::Tensor& self, const at::Tensor& mask) {
  at::Tensor out = at::empty({0}, self.options());
  return masked_select_out(self, mask, out);
}

// LITERALINCLUDE START: NONZERO
at::Tensor& nonzero_out(const at::Tensor& self, at::Tensor& out) {
  check_same_device("nonzero", out, self);
  TORCH_CHECK(
      out.scalar_type() == at::kLong,
      "nonzero: Expected out tensor to have scalar type Long but got scalar type",
      out.scalar_type());
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  KernelDtypes::of("nonzero").check("nonzero", at::ScalarType::Undefined,
                                    {self.scalar_type(), at::kLong}, {});
  const int64_t rows =
      at::count_nonzero(self, at::IntArrayRef{}).item<int64_t>();  // waits
  if (at::native::resize_output(out, {rows, self.dim()})) {
    out.as_strided_({rows, self.dim()}, {1, rows});  // as on the CPU: index by index
  }
  launch_out("nonzero", at::nonzero_outf, std::array{out}, self);
  return out;
}
// LITERALINCLUDE END: NONZERO

at::Tensor nonzero(const at::Tensor& self) {
  at::Tensor out = at::empty({0}, self.options().dtype(at::kLong));
  return nonzero_out(self, out);
}

// Torch's meta function allocates a vector for the answer about one number, and its
// kernels of the CPU and of CUDA resize it. A launched kernel cannot.
at::Tensor isin_scalar(const at::Scalar& element, const at::Tensor& tests,
                       bool assume_unique, bool invert) {
  return at::isin(c10::scalar_to_tensor(element, tests.device()), tests, assume_unique,
                  invert);
}

at::Tensor& isin_scalar_out(const at::Scalar& element, const at::Tensor& tests,
                            bool assume_unique, bool invert, at::Tensor& out) {
  return at::isin_outf(c10::scalar_to_tensor(element, tests.device()), tests,
                       assume_unique, invert, out);
}

}  // namespace openreg
