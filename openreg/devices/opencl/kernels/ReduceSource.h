// Reductions in OpenCL C; see docs/opencl/kernels.md.
//
// Options: I is the tag of the input, O0 and O1 those of the outputs, which may be
// null, C that of the dtype in which to compute; ITEMS work items reduce each line. One
// macro of the operation: SUM, MEAN, PROD, NANSUM, COUNT, MAX, MIN (value and place of
// the first), MIN_MAX, ANY, ALL, VARIANCE, DEVIATION (and the mean), NORM_0, NORM_1,
// NORM_2, NORM_P
// (`number` is the order or the correction), NORM_MAX, NORM_MIN.
#pragma once

#include "csrc/kernels/ReduceLayout.h"
#include "csrc/kernels/opencl/Launch.h"

namespace ocl::kernels::reduce {

inline constexpr opencl::Source kReduce{OCL_LAYOUT_TEXT R"(
typedef COMPUTE(C) Value;
typedef COMPUTE(I) Element;
typedef struct { long count, length, splits, chunk; Dims kept, reduced; } Shape;

#ifdef FLOATING
#define IS_NAN(x) isnan(x)
#define ABS(x) fabs(x)
#else
#define IS_NAN(x) 0
#define ABS(x) ((x) < 0 ? -(x) : (x))
#endif

// What a work item keeps of the elements that it has seen: `start` of none, after a
// `step` one more, `merge` of two work items. `finish` gives the results.
#if defined(MAX) || defined(MIN) || defined(NORM_MAX) || defined(NORM_MIN)
typedef struct { Value value; long at; } Carry;
#if defined(MAX) || defined(NORM_MAX)
#define BEFORE(a, b) ((a) > (b))
#else
#define BEFORE(a, b) ((a) < (b))
#endif
static Carry start(void) { return (Carry){0, -1}; }
static Carry merge(Carry a, Carry b) {  // NaN wins, then the first of equal ones
  if (a.at < 0 || b.at < 0) {
    return a.at < 0 ? b : a;
  }
  const int a_nan = IS_NAN(a.value), b_nan = IS_NAN(b.value);
  if (a_nan != b_nan) {
    return a_nan ? a : b;
  }
  if (!a_nan && a.value != b.value) {
    return BEFORE(a.value, b.value) ? a : b;
  }
  return a.at < b.at ? a : b;
}
static Carry step(Carry c, Element x, long at, Value number) {
#if defined(NORM_MAX) || defined(NORM_MIN)
  return merge(c, (Carry){ABS((Value)x), at});
#else
  return merge(c, (Carry){(Value)x, at});
#endif
}
#define FIRST(c) (c).value
#define SECOND(c) (c).at

#elif defined(MIN_MAX)
typedef struct { Value least, most; int any; } Carry;
#define LESS(a, b) (IS_NAN(a) || (!IS_NAN(b) && (a) < (b)))
#define MORE(a, b) (IS_NAN(a) || (!IS_NAN(b) && (a) > (b)))
static Carry start(void) { return (Carry){0, 0, 0}; }
static Carry merge(Carry a, Carry b) {
  if (!a.any || !b.any) {
    return a.any ? a : b;
  }
  return (Carry){LESS(a.least, b.least) ? a.least : b.least,
                 MORE(a.most, b.most) ? a.most : b.most, 1};
}
static Carry step(Carry c, Element x, long at, Value number) {
  return merge(c, (Carry){(Value)x, (Value)x, 1});
}
#define FIRST(c) (c).least
#define SECOND(c) (c).most

#elif defined(VARIANCE) || defined(DEVIATION)
typedef struct { Value mean, squares, count; } Carry;  // Welford's algorithm
static Carry start(void) { return (Carry){0, 0, 0}; }
static Carry step(Carry c, Element x, long at, Value number) {
  const Value delta = (Value)x - c.mean;
  c.count += 1;
  c.mean += delta / c.count;
  c.squares += delta * ((Value)x - c.mean);
  return c;
}
static Carry merge(Carry a, Carry b) {
  if (a.count == 0 || b.count == 0) {
    return a.count == 0 ? b : a;
  }
  const Value delta = b.mean - a.mean, count = a.count + b.count;
  return (Carry){a.mean + delta * (b.count / count),
                 a.squares + b.squares + delta * delta * (a.count * b.count / count),
                 count};
}
#define VARIANCE_OF(c) ((c).squares / max((Value)s.length - number, (Value)0))
#ifdef VARIANCE
#define FIRST(c) VARIANCE_OF(c)
#else
#define FIRST(c) sqrt(VARIANCE_OF(c))
#endif
#define SECOND(c) (s.length == 0 ? (Value)NAN : (c).mean)

#else
typedef Value Carry;
#if defined(PROD)
#define ADD(a, b) ((a) * (b))
#elif defined(ANY)
#define ADD(a, b) ((a) | (b))
#elif defined(ALL)
#define ADD(a, b) ((a) & (b))
#else
#define ADD(a, b) ((a) + (b))
#endif
#if defined(PROD) || defined(ALL)
static Carry start(void) { return 1; }
#else
static Carry start(void) { return 0; }
#endif
static Carry merge(Carry a, Carry b) { return ADD(a, b); }
static Carry step(Carry c, Element x, long at, Value number) {
#if defined(ANY) || defined(ALL) || defined(COUNT) || defined(NORM_0)
  return ADD(c, x != 0);
#elif defined(NANSUM)
  return IS_NAN(x) ? c : c + (Value)x;
#elif defined(NORM_1)
  return c + ABS((Value)x);
#elif defined(NORM_2)
  return c + (Value)x * (Value)x;
#elif defined(NORM_P)
  return c + pow(ABS((Value)x), number);
#elif defined(TRUTH)
  return ADD(c, x != 0);
#else
  return ADD(c, (Value)x);
#endif
}
#if defined(MEAN)
#define FIRST(c) ((c) / (Value)s.length)
#elif defined(NORM_2)
#define FIRST(c) sqrt(c)
#elif defined(NORM_P)
#define FIRST(c) pow(c, 1 / number)
#else
#define FIRST(c) (c)
#endif
#endif

static void finish(global void* out, global void* second, Carry carry, long line,
                   Value number, const Shape s) {
  if (out) {
    STORE(O0, out, find_offset(&s.kept, 1, line), FIRST(carry));
  }
#ifdef SECOND
  if (second) {
    STORE(O1, second, find_offset(&s.kept, 2, line), SECOND(carry));
  }
#endif
}

// ITEMS work items reduce each line, or each of `splits` parts of it. With 64, they
// read neighboring elements, and merge what they found in local memory, as a tree.
kernel void reduce(global void* out, global void* second, global Carry* parts,
                   global const void* in, Value number, const Shape s) {
  const long line = get_global_id(0) / ITEMS, split = get_global_id(1);
  const int item = get_global_id(0) % ITEMS;
  Carry carry = start();
  if (line < s.count) {
    const long from = find_offset(&s.kept, 0, line), first = split * s.chunk;
    const long last = min(first + s.chunk, s.length);
    // LITERALINCLUDE START: REDUCE_TREE
    for (long k = first + item; k < last; k += ITEMS) {
      const long at = s.reduced.dims == 1 ? k * s.reduced.strides[0][0]
                                          : find_offset(&s.reduced, 0, k);
      carry = step(carry, LOAD(I, in, from + at), k, number);
    }
  }
#if ITEMS > 1
  local Carry carries[ITEMS];
  carries[item] = carry;
  for (int width = ITEMS / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < width) {
      carries[item] = merge(carries[item], carries[item + width]);
    }
  }
  carry = carries[item];
#endif
  // LITERALINCLUDE END: REDUCE_TREE
  if (item == 0 && line < s.count) {
    if (s.splits > 1) {
      parts[line * s.splits + split] = carry;
    } else {
      finish(out, second, carry, line, number, s);
    }
  }
}

kernel void merge_parts(global void* out, global void* second,
                        global const Carry* parts, Value number, const Shape s) {
  const long line = get_global_id(0);
  if (line < s.count) {
    Carry carry = start();
    for (long split = 0; split < s.splits; ++split) {
      carry = merge(carry, parts[line * s.splits + split]);
    }
    finish(out, second, carry, line, number, s);
  }
}
)"};

}  // namespace ocl::kernels::reduce
