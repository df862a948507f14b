// Meta functions that find places in sorted values; see
// docs/operators/meta-functions.md.
#include "csrc/aten/meta/Bucketization.h"

#include <ATen/native/BucketizationUtils.h>
#include <ATen/ops/empty.h>

#include "csrc/aten/common/TensorArguments.h"

namespace openreg {

// Torch has the checks in a header; for a sorter the host waits there.
void SearchSorted::meta(const at::Tensor& sorted, const at::Tensor& self,
                        bool out_int32, bool right,
                        std::optional<std::string_view> side,
                        const std::optional<at::Tensor>& sorter) {
  const auto options = self.options().dtype(out_int32 ? at::kInt : at::kLong);
  const at::Tensor& given = maybe_get_output(0);
  at::native::searchsorted_pre_check(sorted, self,
                                     given.defined() ? given : at::empty({0}, options),
                                     out_int32, right, side, or_undefined(sorter));
  output(0, self.sizes(), options);
}

}  // namespace openreg
