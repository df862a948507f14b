// Meta functions that reverse the order of elements; see
// docs/operators/meta-functions.md.
#include "csrc/aten/meta/Flip.h"

#include <ATen/WrapDimUtilsMulti.h>

namespace openreg {

// LITERALINCLUDE START: FLIP_META
void Flip::meta(const at::Tensor& self, at::IntArrayRef dims) {
  at::dim_list_to_bitset(dims, self.dim());  // throws for a wrong or a repeated one
  output_like(0, self);
}
// LITERALINCLUDE END: FLIP_META

}  // namespace openreg
