// Finds elements that are not zero, in their order; see docs/opencl/kernels.md.
#include "csrc/kernels/IndexingCompaction.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/nonzero_ops.h>

#include "csrc/aten/meta/Indexing.h"
#include "csrc/kernels/IndexingFault.h"
#include "csrc/kernels/IndexingPlacement.h"
#include "csrc/kernels/opencl/Fallback.h"
#include "csrc/kernels/opencl/Launch.h"

namespace ocl::opencl {
namespace {

namespace op = at::_ops;
using at::Tensor;

// Behind kPlacement and kFault. T is the tag of the mask, ELEMENT moves.
constexpr const char* kCompaction = R"(
// Three kernels: how many there are in each chunk of successive elements; the sums of
// all chunks before, and at the end of all; then each chunk has the place where it writes.
#define FOR_EACH_FOUND(OPERAND, DO)                                       \
  const long end = min((long)(get_global_id(0) + 1) * chunk, placement.count);     \
  for (long n = get_global_id(0) * chunk; n < end; ++n) {                 \
    const Places places = places_of(&placement, n);                          \
    if (LOAD(T, mask, places.at[OPERAND]) != 0) { DO }                    \
  }

kernel void count_found(global const void* mask, global long* counts, long chunk,
                        Placement placement) {
  long count = 0;
  FOR_EACH_FOUND(1, ++count;)
  counts[get_global_id(0)] = count;
}

kernel void sum_counts(global long* counts, long chunks) {
  long sum = 0;
  for (long i = 0; i < chunks; ++i) {
    const long count = counts[i];
    counts[i] = sum;
    sum += count;
  }
  counts[chunks] = sum;
}

kernel void write_found(global const void* mask, global const long* counts, long chunk,
                        global ELEMENT* out, global const ELEMENT* source, long size,
                        global long* fault, ulong name, Placement placement) {
  long next = counts[get_global_id(0)];
  FOR_EACH_FOUND(1,
    if (next < size) out[places.at[0]] = source[next];
    else report(fault, next, size, name);
    ++next;
  )
}

typedef struct { long dims, sizes[16], row, column; } Indices;

kernel void write_indices(global const void* mask, global const long* counts,
                          long chunk, global long* out, Placement placement, Indices s) {
  long next = counts[get_global_id(0)];
  FOR_EACH_FOUND(1,
    long rest = n;
    for (int d = (int)s.dims - 1; d >= 0; --d) {
      out[next * s.row + d * s.column] = rest % s.sizes[d];
      rest /= s.sizes[d];
    }
    ++next;
  )
}
)";

constexpr int64_t kMostChunks = 256;
constexpr int64_t kSmallestChunk = 64;

const Source& compaction_source() {
  static const auto* const text =
      new std::string(join({kPlacement, kFault, kCompaction}));
  static const Source only{text->c_str()};
  return only;
}

// Where the chunks of a mask begin to write: the number of elements found before.
struct ChunkCounts {
  int64_t chunk;
  int64_t chunks;
  std::string options;
  Tensor sums;  // and all of them at the end
};

ChunkCounts count_chunks(const Tensor& mask, const Tensor& moved,
                         const Placement& placement) {
  ChunkCounts counts;
  counts.chunk =
      std::max((placement.count + kMostChunks - 1) / kMostChunks, kSmallestChunk);
  counts.chunks = (placement.count + counts.chunk - 1) / counts.chunk;
  counts.options = define("T", mask.scalar_type()) + define_element(moved);
  counts.sums = at::empty({counts.chunks + 1}, mask.options().dtype(at::kLong));
  if (counts.chunks > 0) {
    launch(compaction_source(), "count_found", counts.options, Range({counts.chunks}),
           mask, writes(counts.sums), counts.chunk, placement);
  }
  launch(compaction_source(), "sum_counts", counts.options, Range({1}),
         writes(counts.sums), counts.chunks);
  return counts;
}

// The struct of kCompaction.
struct IndicesArgument {
  int64_t dims;
  int64_t sizes[Placement::kDims];
  int64_t row, column;
};

bool nonzero(const Tensor& self, const Tensor& out) { return write_places(self, out); }

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured_or_fall_back<op::nonzero, op::nonzero_out, Nonzero>(m, nonzero);
}

}  // namespace

bool write_where(const Tensor& out, const Tensor& mask, const Tensor& source_tensor) {
  const auto placement = placement_of(out, mask);
  if (placement && placement->count > 0) {
    const Tensor in = source_tensor.contiguous();
    const ChunkCounts counts = count_chunks(mask, out, *placement);
    launch(compaction_source(), "write_found", counts.options, Range({counts.chunks}),
           mask, counts.sums, counts.chunk, writes(out), in, in.numel(),
           fault_record(out),
           static_cast<uint64_t>(reinterpret_cast<uintptr_t>("masked_scatter_")),
           *placement);
    watch_faults(out);
  }
  return placement.has_value();
}

bool write_places(const Tensor& self, const Tensor& out) {
  const auto placement = placement_of(self, self);
  const bool taken = placement && supports(self.scalar_type()) &&
                     self.dim() <= static_cast<int64_t>(Placement::kDims);
  if (taken && placement->count > 0 && out.numel() > 0) {
    IndicesArgument indices{self.dim(), {}, out.stride(0), out.stride(1)};
    std::copy(self.sizes().begin(), self.sizes().end(), indices.sizes);
    const ChunkCounts counts = count_chunks(self, out, *placement);
    launch(compaction_source(), "write_indices", counts.options, Range({counts.chunks}),
           self, counts.sums, counts.chunk, writes(out), *placement, indices);
  }
  return taken;
}

}  // namespace ocl::opencl
