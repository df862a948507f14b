// The storage class of the device, which has an id; see docs/runtime/storage.md.
#pragma once

#include <c10/core/Storage.h>

#include <cstdint>

#include "csrc/Export.h"

namespace openreg {

// A storage with an id that no other storage of this process ever gets. Its address is
// not unique, because the allocator reuses the memory of a freed storage. Keep data
// about a storage, such as repacked weights, here or in a table with this id as the
// key.
// LITERALINCLUDE START: STORAGE_IMPL
class OpenRegStorageImpl final : public c10::StorageImpl {
 public:
  OpenRegStorageImpl(c10::SymInt bytes, c10::DataPtr data, c10::Allocator* allocator,
                     bool resizable);

  uint64_t id() const { return id_; }

 private:
  const uint64_t id_;
};
// LITERALINCLUDE END: STORAGE_IMPL

// The id of a storage. ValueError if it was not made by this backend.
OPENREG_EXPORT uint64_t storage_id(const c10::Storage& storage);

}  // namespace openreg
