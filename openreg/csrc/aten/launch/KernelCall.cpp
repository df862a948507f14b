// A function of the kernel library: its checks before a launch; see
// docs/operators/structured-errors.md.
#include "csrc/aten/launch/KernelCall.h"

#include <ATen/MemoryOverlap.h>

#include <algorithm>
#include <string>

namespace openreg {
namespace {

// Whether the common dtype of the inputs of TensorIterator came from torch's default
// dtype, which may be another one when the kernel runs.
bool depends_on_default_dtype(at::ScalarType compute, const ArgumentFacts& facts) {
  return std::none_of(
      facts.tensors.begin(), facts.tensors.end(),
      [compute](const ArgumentFacts::Operand& operand) {
        return operand.tensor->scalar_type() == compute &&
               !operand.tensor->unsafeGetTensorImpl()->is_wrapped_number();
      });
}

// Operators that change a tensor which overlaps itself, as on the CPU and on CUDA.
bool may_overlap_itself(std::string_view name) {
  return name == "tril" || name == "triu" || name == "baddbmm" || name == "addmv";
}

}  // namespace

bool has_elements(at::ArrayRef<at::Tensor> tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const at::Tensor& tensor) { return tensor.numel() > 0; });
}

KernelInfo::KernelInfo(const char* name, const char* op, Reads reads)
    : name(name), op(op), reads(reads), dtypes_(KernelDtypes::find(op)) {}

const KernelDtypes& KernelInfo::dtypes_for(std::string_view text) const {
  return dtypes_ != nullptr ? *dtypes_ : KernelDtypes::of(c10::str(op, ':', text));
}

// LITERALINCLUDE START: CHECK
at::ScalarType KernelInfo::check(at::ScalarType compute, const at::Tensor& out,
                                 const ArgumentFacts& facts) const {
  const KernelDtypes& entry = dtypes_for(facts.text);            // (1)
  entry.check(name, compute, facts.dtypes(out), facts.numbers);  // (2)
  const bool convert =
      entry.computes_in_one_dtype() && depends_on_default_dtype(compute, facts);
  return convert ? compute : at::ScalarType::Undefined;  // (3)
}
// LITERALINCLUDE END: CHECK

void KernelInfo::check_overlaps(Form form, const at::Tensor& out,
                                const ArgumentFacts& facts) const {
  const KernelDtypes& entry = dtypes_for(facts.text);
  if (form != Form::Inplace || !may_overlap_itself(name)) {
    at::assert_no_internal_overlap(out);
  }
  for (const ArgumentFacts::Operand& operand : facts.tensors) {
    if (operand.place > 0 || form != Form::Inplace) {
      entry.check_overlap(out, *operand.tensor, operand.place);
    }
  }
}

}  // namespace openreg
