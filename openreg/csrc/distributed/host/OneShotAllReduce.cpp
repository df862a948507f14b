// The host half of an all-reduce without messages; see
// docs/modules/symmetric-memory.md.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include "csrc/distributed/host/SymmetricMemory.h"
#include "csrc/kernels/OneShotAllReduce.h"

namespace openreg {
namespace {

// LITERALINCLUDE START: ONE_SHOT
at::Tensor one_shot_all_reduce_out(const at::Tensor& input, std::string reduce_op,
                                   std::string group, at::Tensor out) {
  constexpr const char* kName = "symm_mem::one_shot_all_reduce";
  TORCH_CHECK_VALUE(reduce_op == "sum", kName, " supports only sum, not ", reduce_op);
  TORCH_CHECK_VALUE(input.is_contiguous() && out.is_contiguous() &&
                        out.sizes() == input.sizes() && out.dtype() == input.dtype() &&
                        out.device() == input.device() && !out.is_alias_of(input),
                    kName, " needs two contiguous tensors of one shape and dtype");
  const auto handle = c10d::symmetric_memory::rendezvous(input, group);  // (1)
  TORCH_CHECK_VALUE(handle, kName,
                    " needs symmetric memory: make the input with "
                    "torch.distributed._symmetric_memory.empty()");
  // LITERALINCLUDE END: ONE_SHOT
  // LITERALINCLUDE START: ONE_SHOT_PARTS
  const auto& memory = static_cast<OpenRegSymmetricMemory&>(*handle);
  const auto* base = static_cast<char*>(handle->get_buffer_ptrs()[handle->get_rank()]);
  const auto offset = static_cast<const char*>(input.const_data_ptr()) - base;
  std::vector<at::Tensor> parts;
  for (int rank = 0; rank < handle->get_world_size(); ++rank) {
    parts.push_back(handle->get_buffer(rank, input.sizes(), input.scalar_type(),
                                       offset / input.itemsize()));
  }
  kernels::one_shot_all_reduce(parts, memory.signals(kName, 0),
                               memory.signals(kName, 1), out);
  // LITERALINCLUDE END: ONE_SHOT_PARTS
  return out;
}

at::Tensor one_shot_all_reduce(const at::Tensor& input, std::string reduce_op,
                               std::string group) {
  return one_shot_all_reduce_out(input, std::move(reduce_op), std::move(group),
                                 at::empty_like(input));
}

// LITERALINCLUDE START: ONE_SHOT_REGISTER
TORCH_LIBRARY_IMPL(symm_mem, PrivateUse1, m) {
  m.impl("one_shot_all_reduce", one_shot_all_reduce);
  m.impl("one_shot_all_reduce_out", one_shot_all_reduce_out);
}
// LITERALINCLUDE END: ONE_SHOT_REGISTER

}  // namespace
}  // namespace openreg
