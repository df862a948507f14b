// Which arguments the kernel library takes; see docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>
#include <c10/util/ArrayRef.h>

#include <string>
#include <string_view>
#include <vector>

namespace openreg {

// LITERALINCLUDE START: KERNEL_DTYPES
// What the kernels of one operator take. A device's own library comes with such a
// table. It is read on the host, before a launch: in a kernel, the same mistake would
// be a fault that stops the device.
class KernelDtypes {
 public:
  // The entry of an operator, such as "mul.Tensor". Some kernels have one for each
  // value of a text: "scatter_reduce.two:amax".
  static const KernelDtypes* find(std::string_view op);  // null if there is none
  static const KernelDtypes& of(std::string_view op);    // throws if there is none

  // Whether the kernel gets one dtype, because TensorIterator converts all operands.
  bool computes_in_one_dtype() const { return patterns_.front().places == "="; }

  // Throws unless there is a kernel.
  //   compute  the dtype that TensorIterator found; used if the kernel gets only that
  //   dtypes   of the tensors among the arguments (Undefined: missing), then of the
  //            first output
  //   numbers  the arguments of type Scalar, null if missing
  // NotImplementedError: no kernel computes in such a dtype. RuntimeError: the dtypes
  // do not go together, or a number does not fit into the one of the computation.
  void check(const char* name, at::ScalarType compute,
             at::ArrayRef<at::ScalarType> dtypes,
             at::ArrayRef<const at::Scalar*> numbers) const;
  // LITERALINCLUDE END: KERNEL_DTYPES

  // Throws if `out` shares memory with `input`, a tensor of the argument that has this
  // place among `dtypes`, so that a kernel would overwrite what it has yet to read.
  // Some kernels may write over an input as a whole. RuntimeError.
  void check_overlap(const at::Tensor& out, const at::Tensor& input,
                     size_t place) const;

  // LITERALINCLUDE START: KERNEL_DTYPES_ROW
  // One line of the table.
  struct Row {
    // Patterns, separated by spaces: a letter for each of `dtypes`, '*' for one of
    // those after the colon, the same in all places, '.' for any dtype. Instead of the
    // places, '=' says that the kernel computes in one dtype.
    const char* patterns;
    // A letter for each of `numbers`, by what the kernel converts it to: '*' the dtype
    // of '*' or '=', '^' the same or at least float32, 'd' float64, '.' anything.
    const char* numbers;
    // A letter for each of `dtypes` but the last: 'x' if this tensor must not be the
    // output, too. Empty if each may be.
    const char* overlaps;
    // The operators, separated by spaces.
    const char* operators;
  };
  // LITERALINCLUDE END: KERNEL_DTYPES_ROW

 private:
  struct Pattern {
    std::string places;
    std::string dtypes;

    bool matches(at::ArrayRef<at::ScalarType> found, size_t& place,
                 at::ScalarType& same) const;
  };

  explicit KernelDtypes(const Row& row);

  static void check_number(const at::Scalar& number, char kind, at::ScalarType compute);

  at::ScalarType check_tensors(const char* name,
                               at::ArrayRef<at::ScalarType> dtypes) const;

  std::vector<Pattern> patterns_;
  std::string numbers_;
  std::string overlaps_;

  friend struct KernelDtypesTable;
};

// KernelDtypesTable.cpp, which openreg/tests/tools/kernel_dtypes.py writes.
extern const at::ArrayRef<KernelDtypes::Row> kKernelDtypes;

}  // namespace openreg
