/* A driver with the faults of CONFORMANCE_FAULT; see docs/ship/conformance.md.
 * Preloaded: each function stands in front of the driver's function of the same name.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct orStream; /* C gives a struct in a parameter list its own scope */
#include "include/openreg.h"

/* Whether a name is one of those in the variable, between commas. */
static int fault(const char* name) {
  const char* at = getenv("CONFORMANCE_FAULT");
  const size_t length = strlen(name);
  while (at != NULL) {
    if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == 0)) {
      return 1;
    }
    at = strchr(at, ',');
    if (at != NULL) ++at;
  }
  return 0;
}

/* The driver's own function. RTLD_NEXT does not find it: Python loads the driver
 * outside of the global namespace. */
static void* behind(const char* name) {
  return dlsym(dlopen("libopenreg.so", RTLD_LAZY | RTLD_NOLOAD), name);
}

#define STAND_IN(NAME, PARAMETERS)         \
  typedef orError_t(*NAME##_t) PARAMETERS; \
  OPENREG_API orError_t NAME PARAMETERS
#define REAL(NAME) ((NAME##_t)behind(#NAME))

/* One queue for all streams of a device: what is enqueued waits for what was before. */
static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;
static orStream_t newest[64] = {NULL}; /* of a device: where its last work is */
static int capturing = 0;

typedef orError_t (*enqueue_t)(orEvent_t, orStream_t);
static void wait_for_newest(orStream_t stream) {
  int device = 0;
  ((orError_t (*)(int*))behind("orGetDevice"))(&device);
  if (newest[device] != stream && !capturing) {
    orEvent_t mark = NULL;
    ((orError_t (*)(orEvent_t*, unsigned))behind("orEventCreateWithFlags"))(&mark, 0);
    ((enqueue_t)behind("orEventRecord"))(mark, newest[device]);
    ((orError_t (*)(orStream_t, orEvent_t))behind("orStreamWaitEvent"))(stream, mark);
    newest[device] = stream; /* the mark leaks, as the process ends soon */
  }
}

/* The statement, behind the work of all streams where there is one queue. */
#define IN_QUEUE(STREAM, STATEMENT) \
  if (fault("one queue")) {         \
    pthread_mutex_lock(&queue);     \
    wait_for_newest(STREAM);        \
    STATEMENT;                      \
    pthread_mutex_unlock(&queue);   \
  } else {                          \
    STATEMENT;                      \
  }

STAND_IN(orStreamDestroy, (orStream_t stream)) {
  for (int device = 0; device < 64; ++device) {
    if (newest[device] == stream) newest[device] = NULL;
  }
  return REAL(orStreamDestroy)(stream);
}

STAND_IN(orStreamQuery, (orStream_t stream)) {
  return fault("stream query") ? orSuccess : REAL(orStreamQuery)(stream);
}

STAND_IN(orStreamSynchronize, (orStream_t stream)) {
  return fault("stream sync") ? orSuccess : REAL(orStreamSynchronize)(stream);
}

STAND_IN(orMemcpy, (void* dst, const void* src, size_t n, orMemcpyKind kind)) {
  if (fault("last byte") && n > 1) n -= 1;
  return REAL(orMemcpy)(dst, src, n, kind);
}

STAND_IN(orStreamCreateWithPriority, (orStream_t * stream, int priority)) {
  static orStream_t only = NULL;
  if (!fault("one stream")) return REAL(orStreamCreateWithPriority)(stream, priority);
  if (only == NULL) REAL(orStreamCreateWithPriority)(&only, priority);
  *stream = only;
  return orSuccess;
}

/* Copies behind the work of the stream, or after 50 ms: a short kernel has ended by
 * then, so the fault shows only behind a slow one, and always there. */
typedef orError_t (*orMemcpyAsync_t)(void*, const void*, size_t, orMemcpyKind,
                                     orStream_t);
static orError_t copy_early(void* dst, const void* src, size_t n, orMemcpyKind kind,
                            orStream_t stream) {
  orStream_t own = NULL;
  for (int ms = 0; ms < 50; ++ms) {
    if (REAL(orStreamQuery)(stream) != orErrorNotReady)
      return REAL(orMemcpyAsync)(dst, src, n, kind, stream);
    usleep(1000);
  }
  REAL(orStreamCreateWithPriority)(&own, 0); /* leaks, as the process ends soon */
  REAL(orMemcpyAsync)(dst, src, n, kind, own);
  return REAL(orStreamSynchronize)(own);
}

STAND_IN(orMemcpyAsync,
         (void* dst, const void* src, size_t n, orMemcpyKind kind, orStream_t stream)) {
  if (fault("early read") && kind == orMemcpyDeviceToHost)
    return copy_early(dst, src, n, kind, stream);
  if (fault("last byte") && n > 1) n -= 1;
  if (fault("no copy")) return orSuccess;
  if (fault("copy stream")) stream = NULL;
  orError_t error = orSuccess;
  IN_QUEUE(stream, error = REAL(orMemcpyAsync)(dst, src, n, kind, stream));
  if (fault("copy blocks") && !capturing) REAL(orStreamSynchronize)(stream);
  return error;
}

STAND_IN(orMemsetAsync, (void* ptr, int value, size_t n, orStream_t stream)) {
  if (fault("no memset")) return orSuccess;
  return REAL(orMemsetAsync)(ptr, value, n, stream);
}

STAND_IN(orMemset, (void* ptr, int value, size_t n)) {
  return fault("no memset") ? orSuccess : REAL(orMemset)(ptr, value, n);
}

static int of_all_threads = 0;

STAND_IN(orSetDevice, (int device)) {
  if (fault("set device")) return orSuccess;
  if (fault("set swallowed")) {
    REAL(orSetDevice)(device);
    return orSuccess;
  }
  const orError_t error = REAL(orSetDevice)(device);
  if (error == orSuccess) of_all_threads = device;
  return error;
}

STAND_IN(orGetDevice, (int* device)) {
  if (fault("shared device")) {
    *device = of_all_threads;
    return REAL(orSetDevice)(of_all_threads);
  }
  if (fault("get device")) {
    *device = 0;
    return orSuccess;
  }
  return REAL(orGetDevice)(device);
}

STAND_IN(orGetDeviceCount, (int* count)) {
  const orError_t error = REAL(orGetDeviceCount)(count);
  if (fault("no device")) *count = 0;
  if (fault("count")) *count = 3;
  return error;
}

STAND_IN(orDeviceSynchronize, (void)) {
  return fault("device sync") ? orSuccess : REAL(orDeviceSynchronize)();
}

STAND_IN(orMalloc, (void** ptr, size_t size)) {
  if (fault("half")) return REAL(orMalloc)(ptr, size / 2);
  if (fault("no memory")) return orErrorMemoryAllocation;
  if (fault("memory device")) {
    int device = 0;
    REAL(orGetDevice)(&device);
    REAL(orSetDevice)(0);
    const orError_t error = REAL(orMalloc)(ptr, size);
    REAL(orSetDevice)(device);
    return error;
  }
  const orError_t error = REAL(orMalloc)(ptr, size);
  if (fault("memory swallowed") && error != orSuccess) return REAL(orMalloc)(ptr, 512);
  return error;
}

STAND_IN(orFree, (void* ptr)) { return fault("leak") ? orSuccess : REAL(orFree)(ptr); }

STAND_IN(orMemGetInfo, (size_t* left, size_t* total)) {
  const orError_t error = REAL(orMemGetInfo)(left, total);
  if (fault("memory info")) *left = *total;
  return error;
}

STAND_IN(orPointerGetAttributes, (orPointerAttributes * found, const void* ptr)) {
  const orError_t error = REAL(orPointerGetAttributes)(found, ptr);
  if (fault("not pinned") && found->type == orMemoryTypeHost)
    found->type = orMemoryTypeUnregistered;
  return error;
}

/* Whether an event was recorded before; it forgets the events that are destroyed. */
static int seen_before(orEvent_t event, int keep) {
  static orEvent_t seen[4096];
  static _Atomic int count = 0;
  const int known = count;
  for (int i = 0; i < known; ++i) {
    if (seen[i] == event) {
      if (!keep) seen[i] = NULL;
      return 1;
    }
  }
  if (keep && known < 4096) seen[count++] = event;
  return 0;
}

STAND_IN(orEventDestroy, (orEvent_t event)) {
  if (fault("one record")) seen_before(event, 0);
  return REAL(orEventDestroy)(event);
}

// LITERALINCLUDE START: CONFORMANCE_FAULT
STAND_IN(orEventRecord, (orEvent_t event, orStream_t stream)) {
  if (fault("no record")) return orSuccess;
  if (fault("one record") && seen_before(event, 1)) return orSuccess;
  if (fault("record stream")) stream = NULL;
  orError_t error = orSuccess;
  IN_QUEUE(stream, error = REAL(orEventRecord)(event, stream));
  return error;
}

STAND_IN(orStreamWaitEvent, (orStream_t stream, orEvent_t event)) {
  if (fault("no wait")) return orSuccess;
  if (fault("wait stream")) stream = NULL;
  return REAL(orStreamWaitEvent)(stream, event);
}
// LITERALINCLUDE END: CONFORMANCE_FAULT

STAND_IN(orEventQuery, (orEvent_t event)) {
  if (fault("event done")) return orSuccess;
  if (fault("event never done")) return orErrorNotReady;
  return REAL(orEventQuery)(event);
}

STAND_IN(orEventSynchronize, (orEvent_t event)) {
  return fault("event sync") ? orSuccess : REAL(orEventSynchronize)(event);
}

STAND_IN(orEventElapsedTime, (float* ms, orEvent_t start, orEvent_t end)) {
  const orError_t error = REAL(orEventElapsedTime)(ms, start, end);
  if (fault("seconds")) *ms /= 1000;
  if (fault("microseconds")) *ms *= 1000;
  if (fault("any time")) {
    *ms = 0;
    return orSuccess;
  }
  return error;
}

typedef struct {
  orKernel_t kernel;
  void* args;
  orHostFn_t destroy;
} Launch;

/* One compute unit: kernels run one at a time, whatever their streams, and in the order
 * in which they became ready, which a mutex alone does not ensure. */
static orError_t run_alone(void* launch) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
  static unsigned last = 0, running = 0;
  const Launch* const inner = (Launch*)launch;
  pthread_mutex_lock(&mutex);
  const unsigned turn = last++;
  while (running != turn) pthread_cond_wait(&ended, &mutex);
  pthread_mutex_unlock(&mutex);
  const orError_t error = inner->kernel(inner->args);
  pthread_mutex_lock(&mutex);
  ++running;
  pthread_cond_broadcast(&ended);
  pthread_mutex_unlock(&mutex);
  return error;
}

/* A kernel is compiled at its first launch: the call takes longer than a slow kernel.
 */
static void compile_once(const char* name) {
  static char* compiled[1024];
  static int count = 0;
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  int i = 0;
  while (i < count && strcmp(compiled[i], name) != 0) ++i;
  if (i == count) {
    usleep(400000);
    compiled[i % 1024] = strdup(name);
    count = i < 1023 ? i + 1 : 1023;
  }
  pthread_mutex_unlock(&mutex);
}

static orError_t run_without_error(void* launch) {
  const Launch* const inner = (Launch*)launch;
  inner->kernel(inner->args);
  return orSuccess;
}

static void destroy_launch(void* launch) {
  const Launch* const inner = (Launch*)launch;
  if (inner->destroy != NULL) inner->destroy(inner->args);
  free(launch);
}

STAND_IN(orLaunchKernel, (const char* name, orKernel_t kernel, void* args,
                          orHostFn_t destroy, orStream_t stream)) {
  if (fault("launch stream")) stream = NULL;
  if (fault("no launch")) {
    if (destroy != NULL) destroy(args);
    return orSuccess;
  }
  if (fault("compiles")) compile_once(name);
  if (fault("error swallowed") || fault("one unit")) {
    Launch* const inner = (Launch*)malloc(sizeof(Launch));
    *inner = (Launch){kernel, args, destroy};
    const orKernel_t run = fault("one unit") ? run_alone : run_without_error;
    const orError_t error =
        REAL(orLaunchKernel)(name, run, inner, destroy_launch, stream);
    if (error != orSuccess) free(inner);
    return error;
  }
  orError_t error = orSuccess;
  IN_QUEUE(stream, error = REAL(orLaunchKernel)(name, kernel, args, destroy, stream));
  if (fault("launch blocks") && !capturing) REAL(orStreamSynchronize)(stream);
  return error;
}

STAND_IN(orGraphLaunch, (orGraphExec_t exec, orStream_t stream)) {
  if (fault("no replay")) return orSuccess;
  if (fault("replay stream")) stream = NULL;
  return REAL(orGraphLaunch)(exec, stream);
}

STAND_IN(orStreamBeginCapture, (orStream_t stream, orStreamCaptureMode mode)) {
  if (fault("no capture")) return orSuccess;
  capturing = 1;
  return REAL(orStreamBeginCapture)(stream, mode);
}

STAND_IN(orStreamEndCapture, (orStream_t stream, orGraph_t* graph)) {
  capturing = 0;
  return REAL(orStreamEndCapture)(stream, graph);
}
