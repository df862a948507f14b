/* Device memory shared between processes. See docs/frontend/ipc.md.
 *
 * A part of the driver API; the rules at the top of openreg.h hold here too. Names and
 * semantics follow cudaIpcGetMemHandle and its relatives. One process exports an
 * allocation as 64 bytes, which may travel in any way. Another one on the same machine
 * opens them and gets an address for the same memory.
 *
 * Both processes must belong to the same user: the one that opens looks into
 * /proc/<pid>/fd of the one that exports.
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
 * Opening a handle after orFree is a mistake that is not noticed (CUDA: undefined): the
 * address then shows whatever this process keeps there.
 * orErrorInvalidDevicePointer when no allocation of this process starts at `ptr`;
 * memory that was opened from another process cannot be passed on. */
OPENREG_API orError_t orIpcGetMemHandle(orIpcMemHandle_t* handle, void* ptr);
/* Gives an address for the memory behind a handle. It belongs to the device of the same
 * number as in the exporting process, and can be used wherever an address from orMalloc
 * can, except for orFree and orIpcGetMemHandle. It stays valid until it is closed, even
 * if the exporting process ends. The memory does not count in orMemGetInfo here.
 *
 * A handle that is open already gives the same address again, to be closed once more.
 * orErrorInvalidResourceHandle when the bytes are no handle, when they come from this
 * very process, or when the exporting process has ended or is out of reach;
 * orErrorInvalidDevice when this process does not have that device;
 * orErrorMemoryAllocation when there is no room for more addresses: a process can have
 * as much of others open as its own devices have. */
OPENREG_API orError_t orIpcOpenMemHandle(void** ptr, orIpcMemHandle_t handle);
/* Waits for every device, then takes back one orIpcOpenMemHandle; the last one unmaps
 * the memory. `ptr` is what orIpcOpenMemHandle gave; anything else, and closing once
 * too often, gives orErrorInvalidDevicePointer. */
OPENREG_API orError_t orIpcCloseMemHandle(void* ptr);

#ifdef __cplusplus
}
#endif
#endif /* OPENREG_IPC_H */
