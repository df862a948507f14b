// From a TensorIterator to the arguments of a kernel; see docs/opencl/kernels.md.
//
//   return pointwise(iterator, {.floating = "a + p * b"}, {alpha});
//
// computes one output of up to four inputs a, b, c, d and numbers p, q, r, s. For other
// kernels, Operands gives the layout, which find_offsets() reads in OpenCL C:
//
//   if (!takes(iterator)) return false;
//   for_each_part(iterator, [](at::TensorIteratorBase& part) {  // 32-bit offsets
//     const Operands operands(part);
//     launch(kSource, "name", operands.options(), Range::items(part.numel()),
//            Address{part.data_ptr(0)}, Address{part.data_ptr(1)}, operands, ...);
//   });
#pragma once

#include <ATen/TensorIterator.h>
#include <c10/util/SmallVector.h>

#include <functional>
#include <initializer_list>
#include <string>

#include "csrc/kernels/opencl/Launch.h"

namespace ocl::opencl {

// Whether kernels take the operands of this iterator: at most 16 dimensions after
// coalescing, and dtypes that the device has.
bool takes(const at::TensorIteratorBase& iterator);

// Calls `body` with iterators over parts whose byte offsets fit into 32 bits, mostly
// with `iterator` itself. Checks that no operand reaches beyond its storage.
void for_each_part(at::TensorIteratorBase& iterator,
                   const std::function<void(at::TensorIteratorBase&)>& body);

// LITERALINCLUDE START: LAYOUT
// Comes with each program that has the options of Operands.
inline constexpr const char* kLayout = R"(
#ifdef DIMS
typedef struct { int sizes[DIMS]; int strides[OPERANDS][DIMS]; } Layout;

static void find_offsets(const Layout* layout, uint i, int* offsets) {
  for (int k = 0; k < OPERANDS; ++k) offsets[k] = 0;
  for (int d = 0; d < DIMS; ++d) {
    const uint size = layout->sizes[d];
    const uint at = d == DIMS - 1 ? i : i % size;  // the last one needs no division
    i = d == DIMS - 1 ? 0 : i / size;
    for (int k = 0; k < OPERANDS; ++k) offsets[k] += at * layout->strides[k][d];
  }
}
#endif
)";
// LITERALINCLUDE END: LAYOUT

// Sizes and byte strides of the operands of an iterator, the fastest dimension first: a
// `const Layout` in OpenCL C. The tags T0, T1, ... are the dtypes of the operands,
// except of numbers from the CPU, and CONTIGUOUS is defined if all operands are.
class Operands {
 public:
  explicit Operands(const at::TensorIteratorBase& iterator);

  const std::string& options() const {
    return options_;
  }  // -DDIMS=2 -DOPERANDS=3 -DT0=f32 -DT1=f32 -DT2=f16

  Bytes bytes() const { return {numbers_.data(), numbers_.size() * sizeof(int32_t)}; }

 private:
  c10::SmallVector<int32_t, 16> numbers_;
  std::string options_;
};

inline Bytes argument(const Operands& operands) { return operands.bytes(); }

// A formula in OpenCL C for each kind of the dtype in which it is computed. Missing
// ones are `floating`; without `floating`, such dtypes have no kernel. The macro
// FLOATING is defined for floating-point dtypes. Literals.
struct Formula {
  const char* floating;
  const char* integral = nullptr;
  const char* boolean = nullptr;
};

// Enqueues a formula for all elements of an iterator; false if a dtype or a layout has
// no kernel. Operands are computed in `dtype`, by default the common dtype of the
// iterator, and else that of the output.
bool pointwise(at::TensorIteratorBase& iterator, const Formula& formula,
               std::initializer_list<at::Scalar> numbers = {},
               at::ScalarType dtype = at::ScalarType::Undefined);

}  // namespace ocl::opencl
