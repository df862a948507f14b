// What the host checks of an operator's arguments before a launch; see
// docs/operators/structured-errors.md.
#include "csrc/aten/launch/ArgumentFacts.h"

#include "csrc/aten/launch/OptionalTensor.h"

namespace openreg {

void ArgumentFacts::add(const at::Tensor& value) {
  tensors.push_back({&value, places++});
}

void ArgumentFacts::add(const std::optional<at::Tensor>& value) {
  if (is_given(value)) {
    tensors.push_back({&*value, places});
  }
  ++places;
}

void ArgumentFacts::add(const at::ITensorListRef& value) {
  for (const at::Tensor& tensor : value) {
    tensors.push_back({&tensor, places});
  }
  ++places;
}

void ArgumentFacts::add(const c10::List<std::optional<at::Tensor>>& value) {
  for (const std::optional<at::Tensor>& tensor : value) {
    if (is_given(tensor)) {
      tensors.push_back({&held_.emplace_front(*tensor), places});
    }
  }
  ++places;
}

void ArgumentFacts::add(const std::optional<at::Scalar>& value) {
  numbers.push_back(value.has_value() ? &*value : nullptr);
}

c10::SmallVector<at::ScalarType, 8> ArgumentFacts::dtypes(const at::Tensor& out) const {
  constexpr at::ScalarType kNone = at::ScalarType::Undefined;
  c10::SmallVector<at::ScalarType, 8> dtypes(places, kNone);
  bool none = true;
  for (const Operand& operand : tensors) {
    if (dtypes[operand.place] == kNone && operand.tensor->numel() > 0) {
      dtypes[operand.place] = operand.tensor->scalar_type();
      none = false;
    }
  }
  dtypes.push_back(none && places > 0 && out.numel() == 0 ? kNone : out.scalar_type());
  return dtypes;
}

}  // namespace openreg
