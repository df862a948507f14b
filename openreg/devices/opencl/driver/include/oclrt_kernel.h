/* Kernels in OpenCL C: what the kernels room calls; see docs/opencl/driver.md.
 *
 * A part of the driver API: the rules at the top of oclrt.h hold here too.
 */
#ifndef OCLRT_KERNEL_H
#define OCLRT_KERNEL_H

#ifdef OPENREG_DROP_IN /* the driver of an unchanged torch_openreg */
#include "openreg.h"
#else
#include "oclrt.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define OCLRT_KERNEL_API __attribute__((visibility("default")))

/* A kernel of a source and its build options. It is never destroyed, and serves every
 * device: a launch on a device for which it was not compiled yet compiles it. */
typedef struct orClKernel* orClKernel_t;

/* Finds the kernel `name` in `source`, which is compiled for the current device unless
 * memory or the disk (OCLRT_CACHE_DIR) has the program already. `options` are those of
 * clBuildProgram, and may be null. Without -cl-std, OpenCL gives OpenCL C 1.2. If the
 * compiler fails, the code is orErrorInvalidValue, and its log is the error detail. */
OCLRT_KERNEL_API orError_t orClGetKernel(orClKernel_t* kernel, const char* source,
                                         const char* name, const char* options);

/* One argument; orClLaunch copies the value.
 *   isPointer = 0: `value` points to `size` bytes
 *   isPointer = 1: `value` points to a device address, which may be inside an
 *                  allocation, or null
 *   value = NULL, size > 0: local memory of that many bytes */
typedef struct orClArg {
  const void* value;
  size_t size;
  int isPointer;
} orClArg;

/* Enqueues the kernel for 1 to 3 dimensions of `global` work-items, in work-groups of
 * `local` (null: OpenCL chooses). A dimension of 0 work-items enqueues nothing. In
 * order with everything else on the stream. */
OCLRT_KERNEL_API orError_t orClLaunch(orClKernel_t kernel, const orClArg* args,
                                      int count, int dims, const size_t* global,
                                      const size_t* local, orStream_t stream);

typedef struct orClDeviceAbility {
  int fp64;            /* double */
  int fp16;            /* arithmetic with half: cl_khr_fp16 */
  size_t localMemory;  /* bytes for one work-group */
  size_t maxWorkGroup; /* work-items of one work-group */
  int subGroups;       /* work-groups have sub-groups */
  int int64Atomics;    /* cl_khr_int64_base_atomics */
} orClDeviceAbility;

OCLRT_KERNEL_API orError_t orClGetDeviceAbility(orClDeviceAbility* ability, int device);

/* For tests of order: no command that is enqueued on the stream from now on starts
 * before the release. Holds add up; destroying the stream releases them, and so does
 * the end of the process. A thread that waits for a stream that it holds deadlocks. */
OCLRT_KERNEL_API orError_t orClHold(orStream_t stream);
/* Takes back one orClHold; orErrorInvalidValue if there is none. */
OCLRT_KERNEL_API orError_t orClRelease(orStream_t stream);

#ifdef __cplusplus
}
#endif
#endif /* OCLRT_KERNEL_H */
