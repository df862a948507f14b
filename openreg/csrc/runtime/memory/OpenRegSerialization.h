// Tags of a tensor, and how they are saved; see docs/runtime/storage.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <unordered_map>

#include "csrc/Export.h"

namespace openreg {

// What torch can save for a backend: names that are true or false.
using TensorTags = std::unordered_map<std::string, bool>;

// Follows BackendMeta of c10/core/TensorImpl.h.
// LITERALINCLUDE START: BACKEND_META
class OpenRegBackendMeta final : public c10::BackendMeta {
 public:
  explicit OpenRegBackendMeta(TensorTags tags) : tags_(std::move(tags)) {}

  c10::intrusive_ptr<c10::BackendMeta> clone(  // (1)
      const c10::intrusive_ptr<c10::BackendMeta>&) const override {
    return c10::make_intrusive<OpenRegBackendMeta>(tags_);
  }

  const TensorTags& tags() const { return tags_; }
  void set_tags(TensorTags tags) { tags_ = std::move(tags); }

 private:
  TensorTags tags_;
};
// LITERALINCLUDE END: BACKEND_META

// The tags of an openreg tensor; none if none was set.
OPENREG_EXPORT TensorTags tensor_tags(const at::Tensor& tensor);

// Replaces the tags of an openreg tensor. ValueError for a tensor of another device,
// and for the names "conj" and "neg", which torch itself uses in saved tensors.
OPENREG_EXPORT void set_tensor_tags(const at::Tensor& tensor, TensorTags tags);

}  // namespace openreg
