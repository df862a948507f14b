/* A record of what the device does, for profilers. See docs/modules/profiler.md.
 *
 * A part of the driver API, with the rules at the top of openreg.h. It corresponds to
 * CUPTI's activity API on an NVIDIA machine. Without a recording, a driver call costs
 * one more load.
 */
#ifndef OPENREG_ACTIVITY_H
#define OPENREG_ACTIVITY_H

#include "openreg.h"

#ifdef __cplusplus
extern "C" {
#endif

// LITERALINCLUDE START: ACTIVITY
typedef enum orActivityKind {
  orActivityCall = 0, /* a call of the driver, on the thread that made it */
  orActivityKernel = 1,
  orActivityMemcpy = 2,
  orActivityMemset = 3
} orActivityKind;

typedef struct orActivity {
  orActivityKind kind;
  const char* name;     /* of the function, of the kernel, of the kind of copy;
                           a string literal */
  uint64_t correlation; /* a call has the same number as the work that it enqueued;
                           no other call has this number */
  uint64_t begin, end;  /* of the clock given to orActivityStart() */
  int device;           /* of a call: the caller's current device */
  int stream;           /* its number on that device, 0 is the default stream; of a
                           call: -1 */
  size_t bytes;         /* of copies and fills */
} orActivity;
// LITERALINCLUDE END: ACTIVITY

/* Receives a record when the call returns or the work has run: on any thread, on
 * several at the same time. It must not call the driver, nor wait for a lock that a
 * thread holds while it calls the driver. */
typedef void (*orActivityFn_t)(const orActivity* activity, void* user);
typedef uint64_t (*orActivityClock_t)(void);

/* Records from now on, until orActivityStop(): the calls that enqueue work,
 * wait, allocate or free, and the kernels, copies and fills that these calls launch.
 * Each node of a graph is work of the orGraphLaunch() that runs it. A task is recorded
 * before a wait for it returns. Work launched before this call is left out. `clock`
 * reads the time; NULL: nanoseconds since 1970. orErrorNotPermitted when a
 * recording is already active. Does not start the driver. */
OPENREG_API orError_t orActivityStart(orActivityFn_t fn, orActivityClock_t clock,
                                      void* user);
/* Ends the recording. When it returns, `fn` is not running and will not be called
 * again. It waits for no task: *unfinished is the number of recorded launches whose
 * tasks had not run yet and are left out. orErrorInvalidValue when no recording is
 * active. Does not start the driver. */
OPENREG_API orError_t orActivityStop(size_t* unfinished);

#ifdef __cplusplus
}
#endif
#endif /* OPENREG_ACTIVITY_H */
