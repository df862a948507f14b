// Kernels that read or write elements by index or mask; see docs/opencl/kernels.md.
#include "csrc/kernels/Indexing.h"

#include <ATen/ExpandUtils.h>
#include <ATen/native/IndexingUtils.h>
#include <ATen/ops/_index_put_impl_ops.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_fill_ops.h>
#include <ATen/ops/index_ops.h>
#include <ATen/ops/masked_fill_ops.h>
#include <ATen/ops/masked_scatter_ops.h>

#include <algorithm>

#include "csrc/kernels/IndexingCompaction.h"
#include "csrc/kernels/IndexingPlacement.h"
#include "csrc/kernels/IndexingSelection.h"
#include "csrc/kernels/opencl/Fallback.h"

namespace ocl::opencl {
namespace {

namespace op = at::_ops;
using at::Tensor;
using kernels::IndexList;

// All indices, broadcast, as one contiguous tensor of int64: one plane for each.
Tensor planes_of(const std::vector<Tensor>& indices) {
  c10::DimVector sizes{static_cast<int64_t>(indices.size())};
  sizes.append(indices[0].sizes().begin(), indices[0].sizes().end());
  Tensor planes = at::empty(sizes, indices[0].options().dtype(at::kLong));
  for (size_t i = 0; i < indices.size(); ++i) {
    planes.select(0, static_cast<int64_t>(i)).copy_(indices[i]);
  }
  return planes;
}

// What `list` selects of `tensor`; `dense` has, or broadcasts to, the sizes of the
// result. The dimensions of the indices take the place of those that have one, or come
// first if these are not adjacent.
Selection select_by(const char* name, const Tensor& dense, const Tensor& tensor,
                    const IndexList& list) {
  const at::IOptTensorListRef references(list);
  auto each = at::expand_outplace(at::native::expandTensors(tensor, references));
  each.resize(tensor.dim());
  Tensor view = tensor;
  if (!at::native::hasContiguousSubspace(each)) {
    std::tie(view, each) = at::native::transposeToFront(tensor, each);
  }
  std::vector<Tensor> given;
  std::copy_if(each.begin(), each.end(), std::back_inserter(given),
               [](const Tensor& index) { return index.defined(); });
  const Tensor planes = planes_of(given);
  Selection s(name, dense, view, planes);
  s.wraps = true;
  s.plane = given[0].numel();
  c10::DimVector of_index;
  const auto add_dim = [&](int64_t size, int64_t stride, int64_t index_stride) {
    s.sizes.push_back(size);
    s.strides[1].push_back(stride);
    of_index.push_back(index_stride);
  };
  for (int64_t dim = 0; dim < view.dim(); ++dim) {
    if (!each[dim].defined()) {
      add_dim(view.size(dim), view.stride(dim), 0);
      continue;
    }
    for (int64_t i = 1; s.extents.empty() && i < planes.dim(); ++i) {
      add_dim(planes.size(i), 0, planes.stride(i));
    }
    s.extents.push_back(view.size(dim));
    s.steps.push_back(view.stride(dim));
  }
  s.strides[2] = of_index;
  s.dense = s.dense.expand(s.sizes);
  s.strides[0] = s.dense.strides();
  return s;
}

// A number may come from the CPU; kernels read memory of the device.
Tensor on_device_of(const Tensor& tensor, const Tensor& other) {
  return tensor.device() == other.device() ? tensor : tensor.to(other.device());
}

bool has_index(const IndexList& indices) {
  return std::any_of(indices.begin(), indices.end(),
                     [](const auto& index) { return is_given(index); });
}

constexpr const char* kMaskedFill = R"(
kernel void masked_fill(global ELEMENT* out, global const uchar* mask, ELEMENT value,
                        Placement placement) {
  const Places places = places_of(&placement, get_global_id(0));
  if (mask[places.at[1]]) out[places.at[0]] = value;
}

kernel void masked_fill_tensor(global ELEMENT* out, global const uchar* mask,
                               global const ELEMENT* value, Placement placement) {
  const Places places = places_of(&placement, get_global_id(0));
  if (mask[places.at[1]]) out[places.at[0]] = *value;
}
)";

template <class Value>
bool fill_where(const char* name, const Tensor& out, const Tensor& mask,
                const Value& value) {
  static const auto* const text = new std::string(join({kPlacement, kMaskedFill}));
  const auto placement = placement_of(out, mask);
  if (placement && placement->count > 0) {
    launch(Source{text->c_str()}, name, define_element(out), Range({placement->count}),
           writes(out), mask, value, *placement);
  }
  return placement.has_value();
}

}  // namespace
}  // namespace ocl::opencl

namespace ocl::kernels {

using namespace opencl;  // NOLINT: the two halves of one room

void index(const Tensor& self, const IndexList& indices, const Tensor& out) {
  if (out.numel() == 0) {
    return;
  }
  if (!has_index(indices)) {
    out.copy_(self);
  } else if (!read_selected(select_by("index", out, self, indices))) {
    Tensor result = out;
    fall_back<op::index_Tensor_out>(self, indices, result);
  }
}

void index_put(const Tensor& out, const IndexList& indices, const Tensor& values,
               bool accumulate, bool unsafe) {
  const Selection selection =
      select_by("index_put_", on_device_of(values, out), out, indices);
  if (!(accumulate ? combine_selected(selection, "plus") : write_selected(selection))) {
    Tensor result = out;
    fall_back<op::_index_put_impl_>(result, indices, values, accumulate, unsafe);
  }
}

void masked_fill(const Tensor& out, const Tensor& mask, const Tensor& value) {
  if (!fill_where("masked_fill_tensor", out, mask, on_device_of(value, out))) {
    Tensor result = out;
    fall_back<op::masked_fill__Tensor>(result, mask, value);
  }
}

void masked_fill(const Tensor& out, const Tensor& mask, const at::Scalar& value) {
  if (!fill_where("masked_fill", out, mask, Element(value, out.scalar_type()))) {
    Tensor result = out;
    fall_back<op::masked_fill__Scalar>(result, mask, value);
  }
}

void index_fill(const Tensor& out, int64_t dim, const Tensor& index,
                const at::Scalar& value) {
  const Tensor view = out.dim() == 0 ? out.unsqueeze(0) : out;
  // The index takes the place of the other operand, which a fill does not have.
  Selection selection = slices("index_fill_", view, view, dim, index);
  selection.strides[0].assign(selection.sizes.size(), 0);
  selection.wraps = true;
  if (!fill_selected(selection, value)) {
    Tensor result = out;
    fall_back<op::index_fill__int_Scalar>(result, dim, index, value);
  }
}

void masked_scatter(const Tensor& out, const Tensor& mask, const Tensor& source) {
  if (!write_where(out, mask, source)) {
    Tensor result = out;
    fall_back<op::masked_scatter_>(result, mask, source);
  }
}

}  // namespace ocl::kernels
