// The storage class of the device, which has an id; see docs/runtime/storage.md.
#include "csrc/runtime/memory/OpenRegStorage.h"

#include <atomic>
#include <utility>

#include "csrc/runtime/device/OpenRegRegistration.h"

namespace openreg {
namespace {

std::atomic<uint64_t> next_id{1};

// LITERALINCLUDE START: STORAGE_FACTORY
c10::intrusive_ptr<c10::StorageImpl> make_storage(c10::StorageImpl::use_byte_size_t,
                                                  c10::SymInt bytes, c10::DataPtr data,
                                                  c10::Allocator* allocator,
                                                  bool resizable) {
  if (data.device().type() != c10::DeviceType::PrivateUse1) {  // (1)
    data = allocator->allocate(static_cast<size_t>(bytes.expect_int()));
  }
  return c10::make_intrusive<OpenRegStorageImpl>(std::move(bytes), std::move(data),
                                                 allocator, resizable);
}

const Registration storage_registered("the class of storages", [] {
  c10::SetStorageImplCreate(c10::DeviceType::PrivateUse1, &make_storage);
});
// LITERALINCLUDE END: STORAGE_FACTORY

}  // namespace

// The ids only have to differ: relaxed.
OpenRegStorageImpl::OpenRegStorageImpl(c10::SymInt bytes, c10::DataPtr data,
                                       c10::Allocator* allocator, bool resizable)
    : StorageImpl(use_byte_size_t(), std::move(bytes), std::move(data), allocator,
                  resizable),
      id_(next_id.fetch_add(1, std::memory_order_relaxed)) {}

uint64_t storage_id(const c10::Storage& storage) {
  const auto* impl =
      dynamic_cast<const OpenRegStorageImpl*>(storage.unsafeGetStorageImpl());
  TORCH_CHECK_VALUE(impl != nullptr, "openreg: a storage on ", storage.device(),
                    " has no id: this backend did not make it");
  return impl->id();
}

}  // namespace openreg
