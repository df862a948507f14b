// Meta functions that find places in sorted values; see
// docs/operators/meta-functions.md.
#pragma once

#include <optional>
#include <string_view>

#include "csrc/aten/meta/MetaFunction.h"

namespace openreg {

struct SearchSorted : MetaFunction {
  void meta(const at::Tensor& sorted, const at::Tensor& self, bool out_int32,
            bool right, std::optional<std::string_view> side,
            const std::optional<at::Tensor>& sorter);
};

}  // namespace openreg
