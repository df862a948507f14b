// Kernels for elements that indices select; see docs/opencl/kernels.md.
#pragma once

namespace ocl::opencl {

// Behind kTypes, kPlacement and kFault. ELEMENT is a type as large as an element, for
// those that move; T is the tag of the dtype for those that compute. INDEX is long or
// int.
inline constexpr const char* kSelection = R"(
typedef struct {
  Placement placement;  // of the dense operand, the selected one, and the index
  long indices, plane, wraps, serial, extents[8], steps[8];
} Selection;

// Where the element is that the indices select, from `to` on; -1 if there is none.
static long follow(const Selection* s, global const INDEX* index, long at, long to,
                   global long* fault, ulong name) {
  for (int k = 0; k < (int)s->indices; ++k) {
    const long given = index[k * s->plane + at], size = s->extents[k];
    const long found = s->wraps && given < 0 ? given + size : given;
    if (found < 0 || found >= size) {
      report(fault, given, size, name);
      return -1;
    }
    to += found * s->steps[k];
  }
  return to;
}

// A work item does this for `serial` elements in their order: then those that select
// the same element follow each other.
#define FOR_EACH_SELECTED(DO)                                               \
  const long first = get_global_id(0) * s.serial;                           \
  for (long n = first; n < first + s.serial && n < s.placement.count; ++n) {   \
    const Places places = places_of(&s.placement, n);                          \
    const long from = places.at[0];                                         \
    const long to =                                                         \
        follow(&s, index, places.at[2], places.at[1], fault, name);         \
    DO                                                                      \
  }

#ifdef ELEMENT
kernel void read_selected(global ELEMENT* dense, global const ELEMENT* selected,
                          global const INDEX* index, global long* fault, ulong name,
                          Selection s) {
  FOR_EACH_SELECTED(dense[from] = to < 0 ? (ELEMENT)0 : selected[to];)
}

kernel void write_selected(global const ELEMENT* dense, global ELEMENT* selected,
                           global const INDEX* index, global long* fault, ulong name,
                           Selection s) {
  FOR_EACH_SELECTED(if (to >= 0) selected[to] = dense[from];)
}

kernel void fill_selected(ELEMENT value, global ELEMENT* selected,
                          global const INDEX* index, global long* fault, ulong name,
                          Selection s) {
  FOR_EACH_SELECTED((void)from; if (to >= 0) selected[to] = value;)
}
#endif
)";

// Behind kSelection. OPERATION is plus, times, least or largest. With ATOMIC, other
// work items may change the same element at the same time.
inline constexpr const char* kCombine = R"(
#define C COMPUTE(T)
static C plus(C a, C b) { return a + b; }
static C times(C a, C b) { return a * b; }
static C least(C a, C b) { return b < a || b != b ? b : a; }  // NaN stays
static C largest(C a, C b) { return b > a || b != b ? b : a; }

#ifdef ATOMIC
#if SIZE == 8
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define WORD ulong
#define EXCHANGE atom_cmpxchg
#else
#define WORD uint
#define EXCHANGE atomic_cmpxchg
#endif
// OpenCL C 1.2 has atomics for integers of 32 bits, and 64 with an extension. A smaller
// element is changed with the whole word that it lies in.
static void combine(global void* array, long at, C value) {
  const size_t address = (size_t)array + at * SIZE;
  volatile global WORD* word = (volatile global WORD*)(address & ~(sizeof(WORD) - 1));
  const uint shift = (address & (sizeof(WORD) - 1)) * 8;
  const WORD mask = (WORD)(~(WORD)0 >> (8 * (sizeof(WORD) - SIZE))) << shift;
  WORD seen = *word, expected;
  do {
    expected = seen;
    const C old = FROM_BITS((expected & mask) >> shift);
    const WORD bits = (WORD)TO_BITS(OPERATION(old, value));
    seen = EXCHANGE(word, expected, (expected & ~mask) | ((bits << shift) & mask));
  } while (seen != expected);
}
#else
static void combine(global void* array, long at, C value) {
  STORE(T, array, at, OPERATION(LOAD(T, array, at), value));
}
#endif

kernel void combine_selected(global const void* dense, global void* selected,
                             global const INDEX* index, global long* fault, ulong name,
                             C factor, Selection s) {
  FOR_EACH_SELECTED(
      if (to >= 0) combine(selected, to, LOAD(T, dense, from) * factor);)
}
)";

}  // namespace ocl::opencl
