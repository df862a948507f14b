// Tags of a tensor, and how they are saved; see docs/runtime/storage.md.
#include "csrc/runtime/memory/OpenRegSerialization.h"

#include <torch/csrc/jit/serialization/pickler_helper.h>

#include "csrc/runtime/device/OpenRegRegistration.h"

namespace openreg {
namespace {

void check_device(const at::Tensor& tensor) {
  TORCH_CHECK_VALUE(tensor.is_privateuseone(),
                    "openreg: only openreg tensors have tags, but this one is on ",
                    tensor.device());
}

// LITERALINCLUDE START: META_SERIALIZATION
void save_tags(const at::Tensor& tensor, TensorTags& metadata) {
  metadata.merge(tensor_tags(tensor));  // (1)
}

void load_tags(const at::Tensor& tensor, TensorTags& metadata) {
  set_tensor_tags(tensor, metadata);  // (2)
}

const Registration tags_registered("the saving of tags", [] {
  torch::jit::TensorBackendMetaRegistry(at::kPrivateUse1, &save_tags, &load_tags);
});
// LITERALINCLUDE END: META_SERIALIZATION

}  // namespace

TensorTags tensor_tags(const at::Tensor& tensor) {
  check_device(tensor);
  const c10::BackendMeta* meta = tensor.unsafeGetTensorImpl()->get_backend_meta();
  // Only this file sets it, so it can only be ours.
  return meta == nullptr ? TensorTags{}
                         : static_cast<const OpenRegBackendMeta*>(meta)->tags();
}

void set_tensor_tags(const at::Tensor& tensor, TensorTags tags) {
  check_device(tensor);
  for (const char* taken : {"conj", "neg"}) {
    TORCH_CHECK_VALUE(tags.count(taken) == 0, "openreg: torch reserves the name '",
                      taken, "' in a saved tensor: choose another name for your tag");
  }
  c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  if (c10::BackendMeta* meta = impl->get_backend_meta()) {
    static_cast<OpenRegBackendMeta*>(meta)->set_tags(std::move(tags));
  } else {
    impl->set_backend_meta(c10::make_intrusive<OpenRegBackendMeta>(std::move(tags)));
  }
}

}  // namespace openreg
