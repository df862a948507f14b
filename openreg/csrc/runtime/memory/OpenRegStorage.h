// What every storage on the device carries; see docs/runtime/storage.md.
#pragma once

#include <c10/core/Storage.h>

#include <cstdint>

#include "csrc/Export.h"

namespace openreg {

// A storage with a number that no other storage of this process ever gets. Its address
// is no such thing: the allocator hands out the memory of a dead storage again. What
// you keep about a storage, such as weights that were repacked once, belongs here or
// into a table with this key.
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

// The number of a storage. ValueError if it was not made by this backend.
OPENREG_EXPORT uint64_t storage_id(const c10::Storage& storage);

}  // namespace openreg
