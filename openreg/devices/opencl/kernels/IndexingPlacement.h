// Where the elements of up to three operands of one shape are, for kernels that see
// each of them by its own strides; see docs/opencl/kernels.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/DimVector.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "csrc/kernels/opencl/Launch.h"

namespace ocl::opencl {

// The struct of kPlacement. Strides are in elements.
struct Placement {
  static constexpr size_t kDims = 16;

  int64_t dims = 0;
  int64_t count = 1;
  int64_t sizes[kDims] = {};
  int64_t strides[3][kDims] = {};
};

inline constexpr const char* kPlacement = R"(
typedef struct { long dims, count, sizes[16], strides[3][16]; } Placement;

typedef struct { long at[3]; } Places;

#define FIND_PLACES(COUNT)                        \
  COUNT rest = (COUNT)n;                          \
  for (int d = (int)s->dims - 1; d >= 0; --d) {   \
    const COUNT size = (COUNT)s->sizes[d];        \
    const long index = (long)(rest % size);       \
    rest /= size;                                 \
    places.at[0] += index * s->strides[0][d];     \
    places.at[1] += index * s->strides[1][d];     \
    places.at[2] += index * s->strides[2][d];     \
  }

// Element number n, in the order of the indices, is here in each operand.
static Places places_of(const Placement* s, long n) {
  Places places = {{0, 0, 0}};
  if (s->count <= 0xffffffffL) {  // divides in 32 bits, which takes a third of the time
    FIND_PLACES(uint)
  } else {
    FIND_PLACES(ulong)
  }
  return places;
}
)";

// One text of several; keep it in a static variable, because the address of a text
// identifies it.
std::string join(std::initializer_list<const char*> texts);

// Dimensions that lie in memory like one become one; those of `apart` and the others
// never do. Nothing if more than kDims are left.
std::optional<Placement> placement_of(at::IntArrayRef sizes,
                                      const std::array<c10::DimVector, 3>& strides,
                                      const std::array<bool, 64>& apart = {});

// For tensors of the same sizes, or that broadcast to those of `a`.
std::optional<Placement> placement_of(const at::Tensor& a, const at::Tensor& b = {},
                                      const at::Tensor& c = {});

// "-DELEMENT=uint " for elements of 4 bytes: kernels that move elements as they are
// take every dtype.
std::string define_element(const at::Tensor& tensor);

// A number as such an element.
class Element {
 public:
  Element(const at::Scalar& number, at::ScalarType dtype);
  const void* value() const { return bytes_.data(); }
  size_t size() const { return size_; }

 private:
  alignas(16) std::array<std::byte, 16> bytes_{};
  size_t size_;
};

inline orClArg driver_argument(const Element& element) {
  return {element.value(), element.size(), 0};
}

}  // namespace ocl::opencl
