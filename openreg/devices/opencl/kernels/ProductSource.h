// The tiled product of matrices in OpenCL C; see docs/opencl/kernels.md.
//
// Options: T is the tag of the dtype and C that of the sum, VALUE its type; ROWS,
// COLUMNS GROUP_ROWS, GROUP_COLUMNS, WIDTH and DEPTH size the tiles. GATHER makes a
// convolution.
#pragma once

#include "csrc/kernels/opencl/Launch.h"

namespace ocl::kernels::product {

inline constexpr opencl::Source kProduct{R"(
typedef struct { long batch, rows, columns, depth, a[3], b[3], c[3], out[3]; } Shape;
typedef COMPUTE(C) Value;

#ifdef FLOATING
#define MULTIPLY_ADD(a, b, c) fma(a, b, c)
#else
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#endif

// What is not finite in c does not count if beta is 0.
static Value finish(Value sum, Value alpha, Value beta, global const void* c, long at) {
  return beta == 0 ? alpha * sum : alpha * sum + beta * (Value)LOAD(T, c, at);
}

// A matrix times a vector: ITEMS work items add up each row.
#ifdef ITEMS
kernel void vector(global void* out, global const void* a, global const void* b,
                    global const void* c, Value alpha, Value beta, const Shape s) {
  const long i = get_global_id(0) / ITEMS, batch = get_global_id(1);
  const int item = get_global_id(0) % ITEMS;
  Value sum = 0;
  if (i < s.rows) {
    const long at_a = batch * s.a[0] + i * s.a[1], at_b = batch * s.b[0];
    for (long k = item; k < s.depth; k += ITEMS) {
      sum = MULTIPLY_ADD((Value)LOAD(T, a, at_a + k * s.a[2]),
                         (Value)LOAD(T, b, at_b + k * s.b[1]), sum);
    }
  }
#if ITEMS > 1
  local Value sums[ITEMS];
  sums[item] = sum;
  for (int width = ITEMS / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < width) {
      sums[item] += sums[item + width];
    }
  }
  sum = sums[0];
#endif
  if (item == 0 && i < s.rows) {
    STORE(T, out, batch * s.out[0] + i * s.out[1],
          finish(sum, alpha, beta, c, batch * s.c[0] + i * s.c[1]));
  }
}
#endif

#ifdef ROWS
#define BM (ROWS * GROUP_ROWS)
#define BN (COLUMNS * GROUP_COLUMNS)
#define GROUP (GROUP_ROWS * GROUP_COLUMNS)
#define VECTORS (COLUMNS / WIDTH)
typedef JOIN(VALUE, WIDTH) Vector;

#ifdef GATHER
typedef struct {
  long batch_stride, channel_stride;
  long size[3], stride[3], padding[3], tap[3], positions[3], taps[3];
  long a_inner, a_outer, out_inner, out_outer;
} Image;
// A place in an image, of which the sum of a position and of a tap is an element.
typedef struct { OFFSET start; int at[3]; } Place;

static Place position(long n, const Image* m) {
  Place place;
  for (int d = 2; d >= 0; --d) {
    const int at = n % m->positions[d];
    n /= m->positions[d];
    place.at[d] = DIVIDED ? at + m->padding[d] : at * m->stride[d] - m->padding[d];
  }
  place.start = n * m->batch_stride;
  return place;
}
static Place tap(long n, const Image* m) {
  Place place;
  for (int d = 2; d >= 0; --d) {
    const int at = n % m->taps[d] * m->tap[d];
    n /= m->taps[d];
    place.at[d] = DIVIDED ? -at : at;
  }
  place.start = n * m->channel_stride;
  return place;
}
static Value gather(global const void* b, long batch, local const Place* l,
                    local const Place* j, const Image* m) {
  OFFSET at = 0;
  int inside = 1;
  for (int d = FIRST_DIM; d < 3; ++d) {
    int y = l->at[d] + j->at[d];
    if (DIVIDED) {
      inside &= y % (int)m->stride[d] == 0;
      y /= (int)m->stride[d];
    }
    inside &= (uint)y < (uint)m->size[d];
    at = at * (OFFSET)m->size[d] + y;
  }
  return inside ? (Value)LOAD(T, b, batch + l->start + j->start + at) : 0;
}
#define IMAGE , const Image image
#define A_AT(l, i) (step_in_a[l] + (i) * (OFFSET)s.a[1])
#define LOAD_B(l, j) gather(b, at_b, &steps_of_b[l], &columns_of_b[j], &image)
#define OUT_AT(j) (j / image.out_inner * image.out_outer + j % image.out_inner)
#else
#define IMAGE
#define A_AT(l, i) ((l) * (OFFSET)s.a[2] + (i) * (OFFSET)s.a[1])
#define LOAD_B(l, j) \
  (Value)LOAD(T, b, at_b + (l) * (OFFSET)s.b[1] + (j) * (OFFSET)s.b[2])
#define OUT_AT(j) (j * s.out[2])
#endif

// A group computes BM rows of BN columns, each work item ROWS of COLUMNS. In steps of
// DEPTH, the group copies tiles of both operands to local memory, whatever their
// strides and their dtype are, and each work item multiplies from there, in vectors of
// WIDTH.
__attribute__((reqd_work_group_size(GROUP_COLUMNS, GROUP_ROWS, 1)))
kernel void product(global void* out, global const void* a, global const void* b,
                    global const void* c, Value alpha, Value beta,
                    const Shape s IMAGE) {
  local Value tile_a[DEPTH][BM];
  local Value tile_b[DEPTH][BN];
  const int item = get_local_id(1) * GROUP_COLUMNS + get_local_id(0);
  const int first_row = get_local_id(1) * ROWS;
  const int first_column = get_local_id(0) * COLUMNS;
  const long batch = get_group_id(2);
  const long row = get_group_id(1) * (long)BM, column = get_group_id(0) * (long)BN;
  const int rows = min(s.rows - row, (long)BM);
  const int columns = min(s.columns - column, (long)BN);
  // Equal to DEPTH. PoCL runs a loop whose count all work items share in lockstep, with
  // the sums in memory; if the count seems to differ, they stay in registers.
  const int steps = item < GROUP ? DEPTH : 0;
  Vector sum[ROWS][VECTORS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
      sum[r][v] = 0;
    }
  }
#ifdef GATHER
  local OFFSET step_in_a[DEPTH];
  local Place steps_of_b[DEPTH], columns_of_b[BN];
  for (int j = item; j < columns; j += GROUP) {
    columns_of_b[j] = COLUMNS_OF_B(column + j, &image);
  }
#endif
  for (long k = 0; k < s.depth; k += DEPTH) {
    const int depth = min(s.depth - k, (long)DEPTH);
#ifdef GATHER
    const long at_a = batch * s.a[0] + row * s.a[1];
    const long at_b = batch * s.b[0];
    for (int l = item; l < depth; l += GROUP) {
      step_in_a[l] = (k + l) / image.a_inner * image.a_outer + (k + l) % image.a_inner;
      steps_of_b[l] = STEPS_OF_B(k + l, &image);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#else
    const long at_a = batch * s.a[0] + row * s.a[1] + k * s.a[2];
    const long at_b = batch * s.b[0] + k * s.b[1] + column * s.b[2];
#endif
    // LITERALINCLUDE START: PRODUCT_TILES
    for (int at = item; at < DEPTH * BM; at += GROUP) {
      const int l = A_BY_ROWS ? at / BM : at % DEPTH;
      const int i = A_BY_ROWS ? at % BM : at / DEPTH;
      tile_a[l][i] = l < depth && i < rows ? (Value)LOAD(T, a, at_a + A_AT(l, i)) : 0;
    }
    for (int at = item; at < DEPTH * BN; at += GROUP) {
      const int l = B_BY_ROWS ? at % DEPTH : at / BN;
      const int j = B_BY_ROWS ? at / DEPTH : at % BN;
      tile_b[l][j] = l < depth && j < columns ? LOAD_B(l, j) : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    // LITERALINCLUDE END: PRODUCT_TILES
    Vector part[ROWS][VECTORS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) {
        part[r][v] = 0;
      }
    }
    for (int l = 0; l < steps; ++l) {
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        const Vector of_a = tile_a[l][first_row + r];
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) {
          part[r][v] = MULTIPLY_ADD(
              of_a, JOIN(vload, WIDTH)(v, &tile_b[l][first_column]), part[r][v]);
        }
      }
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) {
        sum[r][v] += part[r][v];
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int r = 0; r < ROWS && first_row + r < rows; ++r) {
    Value sums[COLUMNS];
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
      JOIN(vstore, WIDTH)(sum[r][v], v, sums);
    }
    const long i = row + first_row + r;
    for (int n = 0; n < COLUMNS && first_column + n < columns; ++n) {
      const long j = column + first_column + n;
      const long at_c = batch * s.c[0] + i * s.c[1] + j * s.c[2];
      STORE(T, out, batch * s.out[0] + i * s.out[1] + OUT_AT(j),
            finish(sums[n], alpha, beta, c, at_c));
    }
  }
}
#endif
)"};

}  // namespace ocl::kernels::product
