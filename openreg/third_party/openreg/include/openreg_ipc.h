/* Device memory shared between processes. See docs/frontend/ipc.md.
 *
 * A part of the driver API, with the rules at the top of openreg.h. Names and semantics
 * follow cudaIpcGetMemHandle and its relatives. One process exports an allocation as 64
 * bytes, which can be sent by any means. Another process on the same machine opens them
 * and gets an address for the same memory.
 *
 * Both processes must belong to the same user, because the importing process opens
 * /proc/<pid>/fd of the exporting process.
 */
#ifndef OPENREG_IPC_H
#define OPENREG_IPC_H

#include "openreg.h"

#ifdef __cplusplus
extern "C" {
#endif

// LITERALINCLUDE START: IPC_HANDLE
typedef struct orIpcMemHandle {
  char reserved[64];
} orIpcMemHandle_t;
// LITERALINCLUDE END: IPC_HANDLE

/* Makes a handle for the device allocation that starts at `ptr`. The handle names the
 * whole allocation. It can be opened until this process ends or frees the allocation.
 * Opening a handle after orFree is not detected (CUDA: undefined behavior): the address
 * then reaches whatever this process stores there.
 * orErrorInvalidDevicePointer when no allocation of this process starts at `ptr`;
 * memory that was opened from another process cannot be passed on. */
OPENREG_API orError_t orIpcGetMemHandle(orIpcMemHandle_t* handle, void* ptr);
/* Returns an address for the memory of a handle. It belongs to the device of the same
 * number as in the exporting process, and can be used wherever an address from orMalloc
 * can, except for orFree and orIpcGetMemHandle. It stays valid until it is closed, even
 * if the exporting process ends. The memory does not count in orMemGetInfo here.
 *
 * Opening a handle again returns the same address, which must be closed once more.
 * orErrorInvalidResourceHandle when the bytes are not a handle, when this process made
 * it, or when the exporting process has ended or cannot be reached;
 * orErrorInvalidDevice when this process does not have that device;
 * orErrorMemoryAllocation when there is no room for more addresses: a process can map
 * as much foreign memory as its own devices have. */
OPENREG_API orError_t orIpcOpenMemHandle(void** ptr, orIpcMemHandle_t handle);
/* Waits for every device, then closes one orIpcOpenMemHandle; the last close unmaps the
 * memory. `ptr` is an address from orIpcOpenMemHandle; any other address, and one close
 * too many, gives orErrorInvalidDevicePointer. */
OPENREG_API orError_t orIpcCloseMemHandle(void* ptr);

#ifdef __cplusplus
}
#endif
#endif /* OPENREG_IPC_H */
