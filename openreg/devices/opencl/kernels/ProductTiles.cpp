// Launches products of matrices; see docs/opencl/kernels.md.
#include "csrc/kernels/ProductTiles.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "csrc/kernels/ProductSource.h"

namespace ocl::kernels::product {
namespace {

using opencl::define;
using opencl::launch;
using opencl::Number;
using opencl::Range;

// Small integers are added in 32 bits.
at::ScalarType sum_dtype(at::ScalarType dtype) {
  const bool is_small = !opencl::is_floating(dtype) && dtype != at::kLong;
  return is_small ? at::kInt : opencl::compute_dtype(dtype);
}

std::string dtypes(at::ScalarType dtype) {
  const at::ScalarType sum = sum_dtype(dtype);
  const char* value = sum == at::kDouble  ? "double"
                      : sum == at::kFloat ? "float"
                      : sum == at::kLong  ? "long"
                                          : "int";
  return define("T", dtype) + define("C", sum) + "-DVALUE=" + value +
         (opencl::is_floating(sum) ? " -DFLOATING" : "");
}

struct Tiles {
  int64_t rows = 64, columns = 128, group_rows = 16, group_columns = 8;
  int width = 8, depth = 32;

  Tiles(const Shape& shape, at::ScalarType dtype) {
    if (shape.rows <= 32) {
      rows = 16;
      group_rows = 4;
    }
    if (at::elementSize(dtype) == 8) {
      columns = 64;
      width = 4;
    }
  }
  std::string options() const {
    const auto number = [](const char* name, int64_t value) {
      return std::string(" -D") + name + "=" + std::to_string(value);
    };
    return number("ROWS", rows / group_rows) +
           number("COLUMNS", columns / group_columns) +
           number("GROUP_ROWS", group_rows) + number("GROUP_COLUMNS", group_columns) +
           number("WIDTH", width) + number("DEPTH", depth);
  }
  Range range(const Shape& shape) const {
    const auto groups = [](int64_t size, int64_t tile) {
      return (size + tile - 1) / tile;
    };
    return Range({groups(shape.columns, columns) * group_columns,
                  groups(shape.rows, rows) * group_rows, shape.batch},
                 {group_columns, group_rows, 1});
  }
};

// Offsets within a tile.
const char* offset(std::initializer_list<int64_t> strides) {
  constexpr int64_t kLimit = std::numeric_limits<int32_t>::max() / 256;
  const bool fits = std::all_of(strides.begin(), strides.end(), [](int64_t stride) {
    return std::abs(stride) < kLimit;
  });
  return fits ? " -DOFFSET=int" : " -DOFFSET=long";
}

void launch_vector(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b,
                   const at::Tensor& c, const at::Scalar& alpha, const at::Scalar& beta,
                   const Shape& shape) {
  const at::ScalarType sum = sum_dtype(out.scalar_type());
  const int64_t items = shape.a[2] == 1 && shape.depth >= 64 ? 64 : 1;
  const Range lines = Range::items(shape.rows * items);
  const Range range({static_cast<int64_t>(lines.global[0]), shape.batch},
                    {Range::kGroup, 1});
  launch(kProduct, "vector",
         dtypes(out.scalar_type()) + " -DITEMS=" + std::to_string(items), range,
         opencl::writes(out), a, b, c, Number(alpha, sum), Number(beta, sum), shape);
}

}  // namespace

bool has_product(at::ScalarType dtype) {
  return opencl::supports(dtype) && dtype != at::kBool &&
         !at::isBarebonesUnsignedType(dtype);
}

void launch_product(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b,
                    const at::Tensor& c, const at::Scalar& alpha,
                    const at::Scalar& beta, const Shape& shape) {
  if (shape.columns == 1) {
    launch_vector(out, a, b, c, alpha, beta, shape);
    return;
  }
  if (shape.rows == 1) {  // x @ B is B' @ x
    const auto turned = [](const int64_t (&strides)[3]) {
      return std::array<int64_t, 3>{strides[0], strides[2], strides[1]};
    };
    Shape other{shape.batch, shape.columns, 1, shape.depth, {}, {}, {}, {}};
    std::ranges::copy(turned(shape.b), other.a);
    std::ranges::copy(turned(shape.a), other.b);
    std::ranges::copy(turned(shape.c), other.c);
    std::ranges::copy(turned(shape.out), other.out);
    launch_vector(out, b, a, c, alpha, beta, other);
    return;
  }
  const at::ScalarType sum = sum_dtype(out.scalar_type());
  const Tiles tiles(shape, sum);
  const std::string options =
      dtypes(out.scalar_type()) + tiles.options() +
      offset({shape.a[1], shape.a[2], shape.b[1], shape.b[2]}) +
      " -DA_BY_ROWS=" + (shape.a[1] == 1 ? "1" : "0") +
      " -DB_BY_ROWS=" + (shape.b[1] == 1 && shape.b[2] != 1 ? "1" : "0");
  launch(kProduct, "product", options, tiles.range(shape), opencl::writes(out), a, b, c,
         Number(alpha, sum), Number(beta, sum), shape);
}

void launch_gathered(const at::Tensor& out, const at::Tensor& a,
                     const at::Tensor& image, const at::Tensor& bias,
                     const Shape& shape, const Image& layout, Gather gather) {
  const at::ScalarType sum = sum_dtype(out.scalar_type());
  const Tiles tiles(shape, sum);
  const bool is_flat = layout.size[0] == 1 && layout.positions[0] == 1 &&
                       layout.taps[0] == 1 && layout.padding[0] == 0;
  const bool by_positions = gather == Gather::PositionsByTaps;
  const bool fits = std::max(a.numel(), image.numel()) < (int64_t{1} << 31);
  const std::string options =
      dtypes(out.scalar_type()) + tiles.options() +
      (fits ? " -DOFFSET=int" : " -DOFFSET=long") + " -DGATHER" +
      (by_positions ? " -DSTEPS_OF_B=position -DCOLUMNS_OF_B=tap"
                    : " -DSTEPS_OF_B=tap -DCOLUMNS_OF_B=position") +
      (gather == Gather::Divided ? " -DDIVIDED=1" : " -DDIVIDED=0") +
      (is_flat ? " -DFIRST_DIM=1" : " -DFIRST_DIM=0") +
      " -DA_BY_ROWS=0 -DB_BY_ROWS=" + (by_positions ? "1" : "0");
  launch(kProduct, "product", options, tiles.range(shape), opencl::writes(out), a,
         image, bias, Number(1, sum), Number(bias.defined() ? 1 : 0, sum), shape,
         layout);
}

}  // namespace ocl::kernels::product
