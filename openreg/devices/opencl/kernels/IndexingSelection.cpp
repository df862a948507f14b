// Launches what gather, scatter and advanced indexing have in common; see
// docs/opencl/kernels.md.
#include "csrc/kernels/IndexingSelection.h"

#include <ATen/Context.h>
#include <ATen/WrapDimUtils.h>

#include <algorithm>
#include <numeric>

#include "csrc/kernels/IndexingFault.h"
#include "csrc/kernels/IndexingPlacement.h"
#include "csrc/kernels/IndexingSource.h"
#include "csrc/runtime/errors/OclException.h"

namespace ocl::opencl {
namespace {

constexpr size_t kIndices = 8;
constexpr int64_t kEnoughLanes = 64;  // to keep a device busy

// The struct of kSelection.
struct SelectionArgument {
  Placement placement;
  int64_t indices = 0, plane = 0, wraps = 0, serial = 1;
  int64_t extents[kIndices] = {};
  int64_t steps[kIndices] = {};
};

orClDeviceAbility device_ability() {
  orClDeviceAbility of_device{};
  int device = 0;
  OCL_CHECK(orGetDevice(&device));
  OCL_CHECK(orClGetDeviceAbility(&of_device, device));
  return of_device;
}

struct PlannedSelection {
  SelectionArgument argument;
  bool atomic = false;  // several work items may meet in one element

  Range range() const {
    const Placement& placement = argument.placement;
    return Range({(placement.count + argument.serial - 1) / argument.serial});
  }
};

// LITERALINCLUDE START: PLAN_SELECTION
// Elements that differ only in what the indices select may meet; all others do not. So
// a work item takes those that may meet, one after the other: the result does not
// depend on the order in which work items run. Where that gives too few work items,
// each takes one element instead.
std::optional<PlannedSelection> plan_selection(const Selection& selection,
                                               bool writes) {
  std::array<bool, 64> meet{};
  std::vector<size_t> order(selection.sizes.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t lanes = 1;
  int64_t each = 1;
  if (writes) {
    const auto may_meet = [&](size_t dim) { return selection.strides[1][dim] == 0; };
    std::stable_partition(order.begin(), order.end(),
                          [&](size_t dim) { return !may_meet(dim); });
    for (size_t dim = 0; dim < order.size(); ++dim) {
      meet[dim] = may_meet(order[dim]);
      (meet[dim] ? each : lanes) *= selection.sizes[order[dim]];
    }
  }
  // LITERALINCLUDE END: PLAN_SELECTION
  c10::DimVector sizes;
  std::array<c10::DimVector, 3> strides;
  for (const size_t dim : order) {
    sizes.push_back(selection.sizes[dim]);
    for (size_t operand = 0; operand < strides.size(); ++operand) {
      strides[operand].push_back(selection.strides[operand][dim]);
    }
  }
  const auto placement = placement_of(sizes, strides, meet);
  const size_t indices = selection.extents.size();
  if (!placement.has_value() || indices > kIndices) {
    return std::nullopt;
  }
  PlannedSelection planned;
  planned.argument.placement = *placement;
  planned.argument.indices = static_cast<int64_t>(indices);
  planned.argument.plane = selection.plane;
  planned.argument.wraps = selection.wraps ? 1 : 0;
  std::copy_n(selection.extents.begin(), indices, planned.argument.extents);
  std::copy_n(selection.steps.begin(), indices, planned.argument.steps);
  if (writes) {
    const bool small = selection.selected.element_size() <= 4;
    const bool has_atomics = small || device_ability().int64Atomics != 0;
    const bool serial = lanes >= kEnoughLanes || !has_atomics ||
                        at::globalContext().deterministicAlgorithms();
    planned.argument.serial = serial ? std::max<int64_t>(each, 1) : 1;
    planned.atomic = !serial;
  }
  return planned;
}

std::string define_index(const at::Tensor& index) {
  return index.scalar_type() == at::kInt ? "-DINDEX=int " : "-DINDEX=long ";
}

uint64_t address_of(const char* literal) {
  return reinterpret_cast<uintptr_t>(literal);
}

const std::string& selection_text() {
  static const auto* const text =
      new std::string(join({kPlacement, kFault, kSelection}));
  return *text;
}

// FROM_BITS and TO_BITS for compare-and-exchange.
std::string define_bits(at::ScalarType dtype) {
  switch (dtype) {
    case at::kFloat:
      return "-DFROM_BITS=as_float -DTO_BITS=as_uint ";
    case at::kDouble:
      return "-DFROM_BITS=as_double -DTO_BITS=as_ulong ";
    case at::kBFloat16:
      return "-DFROM_BITS(x)=as_float((uint)(x)<<16) -DTO_BITS=to_bf16 ";
    case at::kHalf:
      return "-DFROM_BITS=half_to_float -DTO_BITS=float_to_half ";
    case at::kBool:
      return "-DFROM_BITS(x)=((C)(x)) -DTO_BITS(x)=((x)!=0) ";
    default:
      return "-DFROM_BITS(x)=((C)(x)) -DTO_BITS(x)=(x) ";
  }
}

// A half for which only the bits are available is converted through memory.
constexpr const char* kHalfBits = R"(
static float half_to_float(uint bits) {
  const ushort half_bits = (ushort)bits;
  return vload_half(0, (const half*)&half_bits);
}
static ushort float_to_half(float value) {
  ushort half_bits;
  vstore_half_rte(value, 0, (half*)&half_bits);
  return half_bits;
}
)";

const std::string& combine_text() {
  static const auto* const text =
      new std::string(join({kPlacement, kFault, kSelection, kHalfBits, kCombine}));
  return *text;
}

}  // namespace

Selection along(const char* name, const at::Tensor& dense, const at::Tensor& selected,
                int64_t dim, const at::Tensor& index) {
  const auto with_dims = [](const at::Tensor& tensor) {
    return tensor.dim() == 0 ? tensor.unsqueeze(0) : tensor;
  };
  const at::Tensor a = with_dims(dense), b = with_dims(selected), i = with_dims(index);
  dim = at::maybe_wrap_dim(dim, b.dim());
  Selection selection(name, a, b, i);
  selection.sizes = i.sizes();
  selection.strides = {c10::DimVector(a.strides()), c10::DimVector(b.strides()),
                       c10::DimVector(i.strides())};
  selection.strides[1][dim] = 0;
  selection.extents = {b.size(dim)};
  selection.steps = {b.stride(dim)};
  return selection;
}

Selection slices(const char* name, const at::Tensor& dense, const at::Tensor& selected,
                 int64_t dim, const at::Tensor& index) {
  if (selected.dim() == 0) {
    return along(name, dense.reshape({1}), selected, 0, index.reshape({1}));
  }
  dim = at::maybe_wrap_dim(dim, selected.dim());
  c10::DimVector sizes(selected.sizes());
  sizes[dim] = index.numel();
  c10::DimVector shape(selected.dim(), 1);
  shape[dim] = index.numel();
  return along(name, dense, selected, dim, index.view(shape).expand(sizes));
}

bool read_selected(const Selection& s) {
  const auto planned = plan_selection(s, /*writes=*/false);
  if (planned && planned->argument.placement.count > 0) {
    launch(Source{selection_text().c_str()}, "read_selected",
           define_element(s.dense) + define_index(s.index), planned->range(),
           writes(s.dense), s.selected, s.index, fault_record(s.index),
           address_of(s.name), planned->argument);
    watch_faults(s.index);
  }
  return planned.has_value();
}

bool write_selected(const Selection& s) {
  const auto planned = plan_selection(s, /*writes=*/true);
  if (planned && planned->argument.placement.count > 0) {
    launch(Source{selection_text().c_str()}, "write_selected",
           define_element(s.dense) + define_index(s.index), planned->range(), s.dense,
           writes(s.selected), s.index, fault_record(s.index), address_of(s.name),
           planned->argument);
    watch_faults(s.index);
  }
  return planned.has_value();
}

bool fill_selected(const Selection& s, const at::Scalar& value) {
  const auto planned = plan_selection(s, /*writes=*/true);
  if (planned && planned->argument.placement.count > 0) {
    launch(Source{selection_text().c_str()}, "fill_selected",
           define_element(s.selected) + define_index(s.index), planned->range(),
           Element(value, s.selected.scalar_type()), writes(s.selected), s.index,
           fault_record(s.index), address_of(s.name), planned->argument);
    watch_faults(s.index);
  }
  return planned.has_value();
}

bool combine_selected(const Selection& s, const char* operation,
                      const at::Scalar& factor) {
  const at::ScalarType dtype = s.selected.scalar_type();
  if (!supports(dtype)) {
    return false;
  }
  const auto planned = plan_selection(s, /*writes=*/true);
  if (planned && planned->argument.placement.count > 0) {
    std::string options = define("T", dtype) + define_index(s.index);
    options += std::string("-DOPERATION=") + operation;
    if (planned->atomic) {
      options += " -DATOMIC -DSIZE=" + std::to_string(s.selected.element_size()) + ' ';
      options += define_bits(dtype);
    }
    launch(Source{combine_text().c_str()}, "combine_selected", options,
           planned->range(), s.dense, writes(s.selected), s.index,
           fault_record(s.index), address_of(s.name), Number(factor, dtype),
           planned->argument);
    watch_faults(s.index);
  }
  return planned.has_value();
}

}  // namespace ocl::opencl
