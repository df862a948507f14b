// Which arguments the kernel library takes; see docs/operators/structured.md.
#include "csrc/aten/kernels/KernelDtypes.h"

#include <ATen/MemoryOverlap.h>
#include <c10/util/irange.h>

#include <algorithm>
#include <functional>
#include <sstream>
#include <unordered_map>

#include "csrc/aten/kernels/KernelRelease.h"
#include "csrc/aten/ops/CheckScalar.h"

namespace openreg {
namespace {

// As in NumPy's type characters and, for what NumPy lacks, letters that are free.
char letter_of(at::ScalarType dtype) {
  switch (dtype) {
    case at::kByte:
      return 'B';
    case at::kChar:
      return 'b';
    case at::kShort:
      return 'h';
    case at::kInt:
      return 'i';
    case at::kLong:
      return 'l';
    case at::kUInt16:
      return 'H';
    case at::kUInt32:
      return 'I';
    case at::kUInt64:
      return 'L';
    case at::kHalf:
      return 'e';
    case at::kBFloat16:
      return 'y';
    case at::kFloat:
      return 'f';
    case at::kDouble:
      return 'd';
    case at::kComplexHalf:
      return 'E';
    case at::kComplexFloat:
      return 'F';
    case at::kComplexDouble:
      return 'D';
    case at::kBool:
      return '?';
    case at::kFloat8_e4m3fn:
      return '4';
    case at::kFloat8_e5m2:
      return '5';
    case at::kFloat8_e4m3fnuz:
      return '6';
    case at::kFloat8_e5m2fnuz:
      return '7';
    case at::kFloat8_e8m0fnu:
      return '8';
    case at::ScalarType::Undefined:
      return '-';
    default:
      return ' ';  // in no pattern
  }
}

}  // namespace

struct KernelDtypesTable {
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, KernelDtypes, Hash, std::equal_to<>> entries;

  KernelDtypesTable() {
    for (const KernelDtypes::Row& row : kKernelDtypes) {
      const KernelDtypes entry(row);
      std::istringstream names(row.operators);
      for (std::string name; names >> name;) {
        entries.emplace(name, entry);
      }
    }
  }
};

KernelDtypes::KernelDtypes(const Row& row)
    : numbers_(row.numbers), overlaps_(row.overlaps) {
  if (kClampTakesAnyNumber && std::string_view(row.operators).substr(0, 5) == "clamp") {
    std::replace(numbers_.begin(), numbers_.end(), '*', '.');
  }
  std::istringstream patterns(row.patterns);
  for (std::string text; patterns >> text;) {
    const size_t colon = text.find(':');
    const bool has_dtypes = colon != std::string::npos;
    patterns_.push_back(
        {text.substr(0, colon), has_dtypes ? text.substr(colon + 1) : ""});
  }
}

// VENDOR: the dtypes of each of your kernels, in KernelDtypesTable.cpp
const KernelDtypes* KernelDtypes::find(std::string_view op) {
  // Never deleted: kernels are launched at exit, too.
  static const auto* table = new KernelDtypesTable;
  const auto found = table->entries.find(op);
  return found == table->entries.end() ? nullptr : &found->second;
}

const KernelDtypes& KernelDtypes::of(std::string_view op) {
  const KernelDtypes* entry = find(op);
  TORCH_INTERNAL_ASSERT(entry != nullptr, "openreg: '", op,
                        "' is not in the table of the ",
                        "kernels; openreg/tests/tools/kernel_dtypes.py writes it");
  return *entry;
}

// Whether these dtypes fit. `place` is the first one that does not, and `same` the one
// that '*' stands for.
bool KernelDtypes::Pattern::matches(at::ArrayRef<at::ScalarType> found, size_t& place,
                                    at::ScalarType& same) const {
  TORCH_INTERNAL_ASSERT(places.size() == found.size(), "openreg: a kernel has ",
                        found.size(), " dtypes, and ", places.size(), " in the table");
  same = at::ScalarType::Undefined;
  for (place = 0; place < found.size(); ++place) {
    const char wanted = places[place];
    const char letter = letter_of(found[place]);
    if (wanted == '.' || letter == '-') {
      continue;
    }
    if (wanted != '*') {
      if (wanted != letter) {
        return false;
      }
    } else if (same == at::ScalarType::Undefined) {
      if (dtypes.find(letter) == std::string::npos) {
        return false;
      }
      same = found[place];
    } else if (same != found[place]) {
      return false;
    }
  }
  return true;
}

at::ScalarType KernelDtypes::check_tensors(const char* name,
                                           at::ArrayRef<at::ScalarType> dtypes) const {
  size_t furthest = 0;  // how far the best pattern fits, and what it expects there
  at::ScalarType expected = at::ScalarType::Undefined;
  for (const Pattern& pattern : patterns_) {
    size_t place = 0;
    at::ScalarType same = at::ScalarType::Undefined;
    if (pattern.matches(dtypes, place, same)) {
      return same;
    }
    if (place >= furthest && same != at::ScalarType::Undefined) {
      furthest = place;
      expected = same;
    }
  }
  const at::ScalarType found = dtypes[furthest] == at::ScalarType::Undefined
                                   ? dtypes.back()  // of inputs without elements
                                   : dtypes[furthest];
  TORCH_CHECK_NOT_IMPLEMENTED(expected != at::ScalarType::Undefined, "\"", name,
                              "\" not implemented for '", found, "'");
  TORCH_CHECK(false, "expected scalar type ", expected, " but found ", found);
}

void KernelDtypes::check_number(const at::Scalar& number, char kind,
                                at::ScalarType compute) {
  if (kind == 'd') {
    check_scalar(number, at::kDouble);
  } else if (kind == '^' && at::isReducedFloatingType(compute)) {
    check_scalar(number, at::kFloat);
  } else if (kind != '.' && compute != at::ScalarType::Undefined) {
    check_scalar(number, compute);
  }
}

void KernelDtypes::check(const char* name, at::ScalarType compute,
                         at::ArrayRef<at::ScalarType> dtypes,
                         at::ArrayRef<const at::Scalar*> numbers) const {
  if (computes_in_one_dtype()) {
    TORCH_CHECK_NOT_IMPLEMENTED(
        patterns_.front().dtypes.find(letter_of(compute)) != std::string::npos, "\"",
        name, "\" not implemented for '", compute, "'");
  } else {
    compute = check_tensors(name, dtypes);
  }
  TORCH_INTERNAL_ASSERT(numbers.size() == numbers_.size(), "openreg: ", name, " takes ",
                        numbers.size(), " numbers, and ", numbers_.size(),
                        " in the table");
  for (const size_t i : c10::irange(numbers.size())) {
    if (numbers[i] != nullptr) {
      check_number(*numbers[i], numbers_[i], compute);
    }
  }
}

void KernelDtypes::check_overlap(const at::Tensor& out, const at::Tensor& input,
                                 size_t place) const {
  const bool whole = place >= overlaps_.size() || overlaps_[place] != 'x';
  if (whole && input.scalar_type() == out.scalar_type()) {
    at::assert_no_partial_overlap(out, input);
  } else {
    at::assert_no_overlap(out, input);
  }
}

}  // namespace openreg
