// Registers what torch.nn.SyncBatchNorm calls; see docs/modules/sync-batch-norm.md.
#include <torch/library.h>

#include "csrc/aten/native/SyncBatchNorm.h"

namespace openreg {

// LITERALINCLUDE START: REGISTER_SYNC_BATCH_NORM
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("batch_norm_stats", batch_norm_stats);
  m.impl("batch_norm_gather_stats", batch_norm_gather_stats);
  m.impl("batch_norm_gather_stats_with_counts", batch_norm_gather_stats_with_counts);
  m.impl("batch_norm_elemt", batch_norm_elemt);
  m.impl("batch_norm_backward_reduce", batch_norm_backward_reduce);
  m.impl("batch_norm_backward_elemt", batch_norm_backward_elemt);
}
// LITERALINCLUDE END: REGISTER_SYNC_BATCH_NORM

}  // namespace openreg
