// Storages that several processes share; see docs/frontend/ipc.md.
#pragma once

#include <c10/core/Storage.h>

#include <string>

#include "csrc/Export.h"

namespace openreg {

// Does what StorageSharing.cpp of torch/csrc does for CUDA. Call none of them with the
// GIL: the first waits for the device, the others may free memory. All throw in a child
// process that was forked after the device was used.

// Waits for the storage's device, keeps its memory for the receiver, and returns what
// another process on this machine passes to ipc_receive(), once. Throws for memory that
// was itself received.
OPENREG_EXPORT std::string ipc_send(const c10::Storage& storage);

// The storage of a message, on the same memory; the same storage again while it exists.
// It cannot be resized. ValueError if the bytes are not a message.
OPENREG_EXPORT c10::Storage ipc_receive(const std::string& message);

// Releases memory that was sent and that no other process uses any more. Returns the
// number of its messages.
OPENREG_EXPORT size_t ipc_collect();

}  // namespace openreg
