// Operators with indices that may lie on the CPU; see docs/operators/structured.md.
#include "csrc/aten/native/Indexing.h"

#include <ATen/ops/index_cpu_dispatch.h>
#include <ATen/ops/index_meta.h>
#include <ATen/ops/index_ops.h>

#include "csrc/aten/native/Structured.h"

namespace openreg {
namespace {

using Index = FormsOf<at::_ops::index_Tensor, at::meta::structured_index_Tensor,
                      at::cpu::index_outf>;

// LITERALINCLUDE START: HOST_INDICES
// Indices may come from the CPU on every device, and a list of them from both.
IndexList on_device_of(const at::Tensor& self, const IndexList& indices) {
  IndexList moved;
  moved.reserve(indices.size());
  for (const std::optional<at::Tensor>& index : indices) {
    const bool move = index.has_value() && index->defined() && index->is_cpu();
    moved.push_back(move ? std::make_optional(index->to(self.device())) : index);
  }
  return moved;
}
// LITERALINCLUDE END: HOST_INDICES

}  // namespace

at::Tensor index(const at::Tensor& self, const IndexList& indices) {
  return Index::functional(self, on_device_of(self, indices));
}

at::Tensor& index_out(const at::Tensor& self, const IndexList& indices,
                      at::Tensor& out) {
  return Index::out(self, on_device_of(self, indices), out);
}

}  // namespace openreg
