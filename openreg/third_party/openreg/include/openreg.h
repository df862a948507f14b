/* The driver API of the simulated device. See docs/start/architecture.md.
 *
 * Other headers extend it: openreg_ipc.h shares memory between processes,
 * openreg_graph.h inspects captures, openreg_activity.h records what the device does,
 * and occl.h moves data between the ranks of a group.
 *
 * libopenreg.so corresponds to a vendor's runtime (libcudart.so on an NVIDIA
 * machine): plain C, independent of PyTorch. Names and semantics follow the CUDA
 * runtime API; where the two differ, the comment says so.
 *
 * Rules that hold for every function:
 *
 * - The result is an orError_t; outputs are written only on orSuccess. A failing call
 *   changes nothing.
 * - orGetErrorDetail() returns a sentence that says what was wrong with the last call
 *   that failed on this thread.
 * - Any thread may call any function. The current device belongs to the calling thread;
 *   it is device 0 at first.
 * - A function called from inside a task (a kernel, a host callback, or the destroy
 *   function of a kernel's arguments) returns orErrorNotPermitted, unless its comment
 *   says otherwise.
 * - In a child process forked after the driver was used, and while a process exits,
 *   every function that returns an orError_t returns orErrorInitializationError.
 *
 * The environment is read once, before the first use. An invalid value gives
 * orErrorInitializationError.
 *
 *   OPENREG_DEVICE_COUNT     number of devices, 0 to 64; default 2
 *   OPENREG_DEVICE_MEMORY    memory of one device in bytes, or with suffix K, M or G;
 *                            1M to 1024G; default 8G
 *   OPENREG_STEAL            1 (default): a thread that waits for a stream runs the
 *                            tasks of that stream; 0: only worker threads run tasks
 *   OPENREG_LAUNCH_BLOCKING  1: every call that enqueues returns after the task has
 *                            run; the next call reports its fault. Default 0
 *   OPENREG_SIM_DELAY        microseconds, or microseconds:seed: what orSimSetDelay
 *                            does, from the start. Default 0
 */
#ifndef OPENREG_H
#define OPENREG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OPENREG_API __attribute__((visibility("default")))

/* ---------------------------------------------------------------- errors --- */

/* Values equal those of cudaError_t, so tools can read both alike. */
typedef enum orError {
  orSuccess = 0,
  /* An argument is out of range, null, or of the wrong kind. */
  orErrorInvalidValue = 1,
  /* There is not enough free memory of the requested kind. */
  orErrorMemoryAllocation = 2,
  /* The driver cannot start, or this process was forked after it had started. */
  orErrorInitializationError = 3,
  /* The address is not the start of (or not inside) a live device allocation. */
  orErrorInvalidDevicePointer = 17,
  /* The kind of the copy does not match what the addresses are. */
  orErrorInvalidMemcpyDirection = 21,
  /* OPENREG_DEVICE_COUNT is 0. */
  orErrorNoDevice = 100,
  /* The device ordinal is not below the device count. */
  orErrorInvalidDevice = 101,
  /* The stream, event or graph handle is not live. */
  orErrorInvalidResourceHandle = 400,
  /* Not an error: the queried work has not finished. Does not change the error
   * detail. */
  orErrorNotReady = 600,
  /* A task touched device memory outside every allocation; sticky. */
  orErrorIllegalAddress = 700,
  /* A kernel reported a failure; sticky. */
  orErrorLaunchFailure = 719,
  /* The call is not allowed here (inside a kernel or a host callback). */
  orErrorNotPermitted = 800,
  orErrorNotSupported = 801,
  /* The call is not allowed while the stream is capturing. */
  orErrorStreamCaptureUnsupported = 900,
  /* An earlier forbidden call invalidated the capture. */
  orErrorStreamCaptureInvalidated = 901,
  /* The capture ended while a forked stream had not joined the first. */
  orErrorStreamCaptureUnjoined = 904,
  orErrorUnknown = 999
} orError_t;

/* The enumerator's name, e.g. "orErrorNotReady". Never null; a string literal. Allowed
 * everywhere. */
OPENREG_API const char* orGetErrorName(orError_t error);
/* One sentence for the error code. Never null; a string literal. Allowed everywhere. */
OPENREG_API const char* orGetErrorString(orError_t error);
/* What was wrong in the last failing call of this thread: names, numbers, and what
 * to do next. "" when no call has failed. Valid until the next failing call of this
 * thread. Allowed everywhere. */
OPENREG_API const char* orGetErrorDetail(void);

/* ---------------------------------------------------------------- driver --- */

typedef enum orDriverState {
  orDriverFresh = 0, /* not started: this process may still fork safely */
  orDriverRunning = 1,
  orDriverForked = 2, /* a child of a process whose driver ran: never usable */
  orDriverExiting = 3 /* the process is exiting, and the device is shut down */
} orDriverState;

/* Starts the driver now, rather than with the first call that needs it. Later calls do
 * nothing. */
OPENREG_API orError_t orInit(void);
/* What this process can do with the driver. Does not start it. Allowed everywhere, also
 * in a forked child. */
OPENREG_API orDriverState orGetDriverState(void);

/* --------------------------------------------------------------- devices --- */

typedef struct orDeviceProp {
  char name[256];
  size_t totalGlobalMem;   /* bytes; OPENREG_DEVICE_MEMORY in whole pages */
  int major, minor;        /* version of the simulated architecture */
  int multiProcessorCount; /* threads a kernel may use for its arithmetic */
  int concurrentKernels;   /* 1: kernels of different streams run at the same time */
  int canMapHostMemory;    /* 0: a kernel cannot reach host memory */
  int streamPrioritiesSupported;
} orDeviceProp;

/* Number of devices. With OPENREG_DEVICE_COUNT=0 it succeeds and gives 0, where CUDA
 * returns an error. Does not start the driver: a process may still fork safely
 * afterwards. */
OPENREG_API orError_t orGetDeviceCount(int* count);
/* The calling thread's current device. Does not start the driver. Allowed inside
 * tasks, where it is the device that runs the task. */
OPENREG_API orError_t orGetDevice(int* device);
/* Makes `device` current for the calling thread. Does not start the driver. */
OPENREG_API orError_t orSetDevice(int device);
/* Name, memory and abilities of a device. Does not start the driver. */
OPENREG_API orError_t orGetDeviceProperties(orDeviceProp* prop, int device);
/* Waits until every stream of the current device is idle; reports the device's
 * sticky error, if it has one. */
OPENREG_API orError_t orDeviceSynchronize(void);
/* Waits for the device, then clears its sticky error. Allocations, streams and events
 * stay valid (cudaDeviceReset destroys them), so that a test can continue after a
 * fault. */
OPENREG_API orError_t orDeviceReset(void);

/* ---------------------------------------------------------------- memory --- */

struct orStream; /* see below */

typedef enum orMemcpyKind {
  orMemcpyHostToHost = 0,
  orMemcpyHostToDevice = 1,
  orMemcpyDeviceToHost = 2,
  orMemcpyDeviceToDevice = 3, /* also between devices */
  orMemcpyDefault = 4         /* inferred from the addresses */
} orMemcpyKind;

typedef enum orMemoryType {
  orMemoryTypeUnregistered = 0, /* ordinary (pageable) host memory */
  orMemoryTypeHost = 1,         /* pinned host memory, from orMallocHost */
  orMemoryTypeDevice = 2
} orMemoryType;

typedef struct orPointerAttributes {
  orMemoryType type;
  int device;  /* of the allocation; -1 for unregistered memory */
  void* base;  /* start of the allocation; null for unregistered memory */
  size_t size; /* requested bytes; 0 for unregistered memory */
} orPointerAttributes;

/* Allocates `size` bytes (> 0) on the current device, aligned to 512 bytes. The host
 * cannot touch them: reading or writing the address on the host is a segmentation
 * fault, as on a discrete accelerator. */
OPENREG_API orError_t orMalloc(void** ptr, size_t size);
/* Frees device memory. Waits for the device that owns it first, as cudaFree does.
 * Null is allowed and does nothing. A second free, or an address inside an
 * allocation, gives orErrorInvalidDevicePointer. */
OPENREG_API orError_t orFree(void* ptr);
/* Allocates `size` bytes (> 0) of pinned (page-locked) host memory, aligned to a page
 * of the system, usable with every device. */
OPENREG_API orError_t orMallocHost(void** ptr, size_t size);
/* Frees pinned host memory. Waits for every device first. Null is allowed and does
 * nothing. Any other address that orMallocHost did not return gives
 * orErrorInvalidValue. */
OPENREG_API orError_t orFreeHost(void* ptr);
/* Free and total bytes of the current device. */
OPENREG_API orError_t orMemGetInfo(size_t* free, size_t* total);
/* Describes the memory at an address, which may be any address. Does not start the
 * driver. Allowed inside tasks. */
OPENREG_API orError_t orPointerGetAttributes(orPointerAttributes* attributes,
                                             const void* ptr);

/* Copies `count` bytes and waits until they have arrived. Ordered after the work
 * already on the default stream of the current device. Checks that [dst, dst+count)
 * and [src, src+count) are each inside one live allocation of the kind that `kind`
 * specifies: orErrorInvalidMemcpyDirection when the kinds differ, orErrorInvalidValue
 * when a range leaves its allocation, orErrorInvalidDevicePointer when a device
 * address is not allocated. count == 0 does nothing. */
OPENREG_API orError_t orMemcpy(void* dst, const void* src, size_t count,
                               orMemcpyKind kind);
/* The same on `stream`. Returns before the copy has happened when both sides are
 * device or pinned memory. A copy from pageable memory returns after the source was
 * read, one to pageable memory after the destination was written, as with CUDA. */
OPENREG_API orError_t orMemcpyAsync(void* dst, const void* src, size_t count,
                                    orMemcpyKind kind, struct orStream* stream);
/* Sets `count` bytes of device memory to the low byte of `value`; orMemset waits,
 * orMemsetAsync does not. */
OPENREG_API orError_t orMemset(void* ptr, int value, size_t count);
OPENREG_API orError_t orMemsetAsync(void* ptr, int value, size_t count,
                                    struct orStream* stream);

/* --------------------------------------------------------------- streams --- */

/* NULL: the default stream of the calling thread's current device. */
typedef struct orStream* orStream_t;

/* Tasks of one stream run in the order in which they were enqueued; different
 * streams run concurrently. No stream waits for another without an event (as
 * cudaStreamNonBlocking). The default stream is one more such stream. A launch that
 * finds 1024 tasks pending in its stream waits until there is room. */
OPENREG_API orError_t orStreamCreate(orStream_t* stream);
/* Lower numbers run first. A priority outside the range is clamped, as with CUDA. It
 * is a hint: the system must permit the process to raise the priority of a thread, and
 * a task that a waiting thread runs has the priority of that thread. */
OPENREG_API orError_t orStreamCreateWithPriority(orStream_t* stream, int priority);
/* least is 0, greatest is negative, as with CUDA. Does not start the driver. */
OPENREG_API orError_t orDeviceGetStreamPriorityRange(int* least, int* greatest);
/* The handle becomes invalid at once, but pending work still runs. The default stream
 * (NULL) cannot be destroyed: orErrorInvalidResourceHandle. A stream that takes part
 * in a capture cannot either: orErrorStreamCaptureUnsupported. */
OPENREG_API orError_t orStreamDestroy(orStream_t stream);
/* The priority of a stream, clamped to the range. */
OPENREG_API orError_t orStreamGetPriority(orStream_t stream, int* priority);
/* The device of a stream; of NULL: the calling thread's current device. */
OPENREG_API orError_t orStreamGetDevice(orStream_t stream, int* device);
/* orSuccess when everything enqueued so far has finished, orErrorNotReady otherwise;
 * never waits. */
OPENREG_API orError_t orStreamQuery(orStream_t stream);
/* Waits for everything enqueued so far; reports the sticky error of the stream's
 * device. */
OPENREG_API orError_t orStreamSynchronize(orStream_t stream);

/* ---------------------------------------------------------------- events --- */

typedef struct orEvent* orEvent_t;

enum { orEventDefault = 0, orEventDisableTiming = 2 };

/* Makes an event that was never recorded. `flags` is orEventDefault, which
 * orEventCreate takes, or orEventDisableTiming: then a record costs no task and has no
 * time. Any other value gives orErrorInvalidValue. */
OPENREG_API orError_t orEventCreate(orEvent_t* event);
OPENREG_API orError_t orEventCreateWithFlags(orEvent_t* event, unsigned int flags);
/* Allowed while a record is pending: streams that already wait for it keep waiting for
 * that record. */
OPENREG_API orError_t orEventDestroy(orEvent_t event);
/* Marks the current end of `stream`. Recording again replaces the mark; waits enqueued
 * earlier keep the old mark. An event may be recorded on streams of any
 * device. */
OPENREG_API orError_t orEventRecord(orEvent_t event, orStream_t stream);
/* Work enqueued on `stream` from now on starts after the event's last record has
 * completed. An event that was never recorded counts as completed. The stream may
 * belong to another device. */
OPENREG_API orError_t orStreamWaitEvent(orStream_t stream, orEvent_t event);
/* orSuccess when the last record has completed (or there is none), orErrorNotReady
 * otherwise; never waits. */
OPENREG_API orError_t orEventQuery(orEvent_t event);
/* Waits for the last record; reports the sticky error of the device it was made on. */
OPENREG_API orError_t orEventSynchronize(orEvent_t event);
/* Milliseconds between two completed records. orErrorInvalidResourceHandle when an
 * event was never recorded or has no timing; orErrorNotReady when a record has not
 * completed. */
OPENREG_API orError_t orEventElapsedTime(float* ms, orEvent_t start, orEvent_t end);

/* --------------------------------------------------------------- kernels --- */

/* A kernel runs on the device side. It returns orSuccess, or the code of a fault,
 * which becomes the sticky error of the device (see below). It must not throw. */
typedef orError_t (*orKernel_t)(void* args);
typedef void (*orHostFn_t)(void* args);

/* Enqueues `kernel(args)` on `stream`. `name` (not copied; must stay valid) appears
 * in errors and traces. When the task is no longer needed (it ran, it was dropped
 * because of a fault, or its graph was freed) the driver calls `destroy(args)`, if
 * given, exactly once, and only if this call returned orSuccess. A wait for the task
 * returns after `destroy` has returned. It runs on an unspecified thread and must not
 * call the driver.
 *
 * The stream runs nothing else while a kernel, a `destroy` or a host callback runs.
 * None of them may wait for a lock that a thread holds while it waits for the device.
 */
OPENREG_API orError_t orLaunchKernel(const char* name, orKernel_t kernel, void* args,
                                     orHostFn_t destroy, orStream_t stream);
/* Enqueues a host callback; work behind it waits until it has returned. It may not
 * call the driver. It is dropped, like a kernel, when the device has a sticky error. */
OPENREG_API orError_t orLaunchHostFunc(orStream_t stream, orHostFn_t fn, void* args);

/* Inside a kernel: the address by which the device reaches device memory `ptr`,
 * which may point into any live allocation of any device. NULL outside kernels, and
 * for an address that is not device memory. Real hardware does not need this function,
 * because a kernel uses the pointer as it is. */
OPENREG_API void* orKernelAddress(const void* ptr);
/* Inside a kernel: the message of the fault that it is about to return. It is copied,
 * and appears in orGetErrorDetail() of each call that reports the fault. Ignored
 * outside kernels. */
OPENREG_API void orKernelFault(const char* message);

/* Faults. A kernel that fails leaves a sticky error on its device: tasks behind it
 * on every stream of that device are dropped without being run, and each later call
 * that enqueues, allocates, copies or synchronizes there returns the error. Only
 * orDeviceReset clears it. Frees, destroys and queries of handles still work, so that
 * a program can clean up. */

/* ---------------------------------------------------------------- graphs --- */

typedef struct orGraph* orGraph_t;
typedef struct orGraphExec* orGraphExec_t;

/* Where calls that would wait (synchronizing, freeing, copies that wait or touch
 * pageable memory) fail during a capture. Such a call invalidates the
 * capture. */
typedef enum orStreamCaptureMode {
  orStreamCaptureModeGlobal = 0,      /* on every thread */
  orStreamCaptureModeThreadLocal = 1, /* on the capturing thread */
  /* only where they would wait for a capturing stream, or for a device that has one */
  orStreamCaptureModeRelaxed = 2
} orStreamCaptureMode;

/* From here to orStreamEndCapture, work enqueued on `stream` is recorded instead of
 * run. A stream that waits for an event recorded in a capturing stream joins the same
 * capture; it must be waited for by the first stream, through an event again, before
 * the capture ends. The default stream can be captured (CUDA rejects the legacy default
 * stream).
 *
 * These calls give orErrorStreamCaptureUnsupported and invalidate the capture:
 * synchronizing or querying a capturing stream, or an event recorded in it; copying
 * pageable memory there; letting it wait for an event recorded outside the capture. */
OPENREG_API orError_t orStreamBeginCapture(orStream_t stream, orStreamCaptureMode mode);
/* Sets which captures make a waiting call of this thread fail, and returns the previous
 * mode in *mode. Global (the initial mode): captures of other threads in mode global,
 * and captures of this thread unless they are relaxed. ThreadLocal: only captures of
 * this thread. Relaxed: none, for a library that frees memory that no capture uses;
 * calls that would wait for a capturing stream, or for a device that has one, still
 * fail. Does not start the driver. */
OPENREG_API orError_t orThreadExchangeStreamCaptureMode(orStreamCaptureMode* mode);
/* Ends the capture and returns the graph. Must be called with the stream that began it
 * (orErrorInvalidValue otherwise). After an invalidated or unjoined capture the error
 * is returned, the capture is over, and *graph is not written. */
OPENREG_API orError_t orStreamEndCapture(orStream_t stream, orGraph_t* graph);
/* *capturing is 1 while the stream takes part in a capture (also an invalidated one),
 * else 0. Never invalidates a capture. */
OPENREG_API orError_t orStreamIsCapturing(orStream_t stream, int* capturing);
/* Number of tasks in a graph. */
OPENREG_API orError_t orGraphGetNodeCount(orGraph_t graph, size_t* count);
/* Makes an executable graph for orGraphLaunch. The graph may be destroyed afterwards.
 */
OPENREG_API orError_t orGraphInstantiate(orGraphExec_t* exec, orGraph_t graph);
/* Runs the graph's tasks on `stream`, in captured order, as one unit of work. May be
 * called any number of times; launches of the same `exec` run one after the other,
 * also on different streams. */
OPENREG_API orError_t orGraphLaunch(orGraphExec_t exec, orStream_t stream);
/* Both may be destroyed while launches are pending, in any order. */
OPENREG_API orError_t orGraphDestroy(orGraph_t graph);
OPENREG_API orError_t orGraphExecDestroy(orGraphExec_t exec);

/* --------------------- simulator: what a real driver does not have ------------- */

/* The device is usually fast, so a program that lacks a wait seems to work. These
 * functions let a test delay the device, order its work and make it fail. They act on
 * the whole process, and cost nothing while they are off. */

/* Holds a stream: until the release, no task of the stream starts on any thread, and a
 * wait for the stream does not return. A task enqueued before the call may be starting
 * already. Holds are counted. Destroying the stream, orSimReset and the end of the
 * process release it. A thread that waits for a stream that it holds itself deadlocks.
 * While any stream is held, OPENREG_LAUNCH_BLOCKING has no effect. */
OPENREG_API orError_t orSimHold(orStream_t stream);
/* Releases one orSimHold. orErrorInvalidValue when the stream is not held. */
OPENREG_API orError_t orSimRelease(orStream_t stream);
/* Each task waits before it starts: `microseconds` if `seed` is 0, else a random time
 * of at most that. The same seed, stream and place in the stream give the same time. 0
 * microseconds turn it off; more than 10 seconds give orErrorInvalidValue.
 * orSimGetDelay returns the current setting. Neither starts the driver. */
OPENREG_API orError_t orSimSetDelay(unsigned int microseconds, unsigned int seed);
OPENREG_API orError_t orSimGetDelay(unsigned int* microseconds, unsigned int* seed);
/* Of the kernels of that name (NULL: of any name) that are launched from now on, the
 * kernel after the next `after` kernels fails with orErrorLaunchFailure instead of
 * running. A
 * capture launches no kernels; each orGraphLaunch launches those of its graph. A second
 * call replaces the first. Does not start the driver. */
OPENREG_API orError_t orSimFailKernel(const char* name, int after);
/* The next `count` calls of orMalloc or orMallocHost fail with
 * orErrorMemoryAllocation; 0 turns it off. Does not start the driver. */
OPENREG_API orError_t orSimFailAllocation(int count);
/* Releases every hold, clears the requested failures, and resets the delay to
 * OPENREG_SIM_DELAY. Sticky errors remain: orDeviceReset clears them. Does not start
 * the driver. */
OPENREG_API orError_t orSimReset(void);

#ifdef __cplusplus
}
#endif
#endif /* OPENREG_H */
