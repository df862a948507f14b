/* The collective communication library of the device. See docs/modules/distributed.md.
 *
 * libopenreg.so corresponds to libnccl.so here: names, enumerators and semantics
 * follow NCCL 2. What NCCL does not have is marked "Extension". Rules that hold for
 * every function:
 *
 * - The result is an occlResult_t; outputs are written only on occlSuccess.
 *   occlGetLastError(NULL) returns a sentence that says what was wrong.
 * - Any thread may call any function. Collectives of one communicator must be enqueued
 *   in the same order on every rank, and run in the order of their streams.
 * - A call that moves data enqueues one kernel on `stream` and returns. Addresses are
 *   those of device memory. `stream` may belong to any device of the process.
 * - A kernel that fails leaves a sticky error on its device, see "Faults" in openreg.h,
 *   and an asynchronous error in its communicator.
 * - No call can be captured into a graph.
 *
 * Ranks on one host share memory. Ranks on several hosts need a network plug-in, see
 * occlNet_t.
 *
 *   OCCL_SHM_DISABLE   1: this rank does not share memory, so all use the plug-in
 */
#ifndef OPENREG_OCCL_H
#define OPENREG_OCCL_H

#include "openreg.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- errors --- */

/* Values up to occlInProgress equal those of ncclResult_t. */
typedef enum occlResult {
  occlSuccess = 0,
  occlUnhandledError = 1, /* a driver call failed; see orGetErrorDetail() */
  occlSystemError = 2,    /* a call of the operating system or the plug-in failed */
  occlInternalError = 3,
  occlInvalidArgument = 4,
  occlInvalidUsage = 5, /* among others: the calls of the ranks do not match */
  occlRemoteError = 6,  /* another rank ended, left or called occlCommAbort */
  occlInProgress = 7,   /* not used: every call returns when it has enqueued */
  occlTimeout = 8       /* Extension: timed out waiting for another rank */
} occlResult_t;

/* One sentence for the code. Never null; a string literal. */
OPENREG_API const char* occlGetErrorString(occlResult_t result);

/* --------------------------------------------------------- communicators --- */

/* A group of ranks. Each rank is a process, or a thread, with its own handle. */
typedef struct occlComm* occlComm_t;

/* With NULL: what was wrong in the last failing call of this thread. With a
 * communicator: its asynchronous error, "" if it has none. Valid until the next call of
 * this function on this thread. */
OPENREG_API const char* occlGetLastError(occlComm_t comm);

#define OCCL_UNIQUE_ID_BYTES 128
typedef struct occlUniqueId {
  char internal[OCCL_UNIQUE_ID_BYTES];
} occlUniqueId;

/* Makes an id for a new communicator. One process, which must be one of the ranks,
 * calls this function and sends the id to all ranks by any means. An id makes one
 * communicator. */
OPENREG_API occlResult_t occlGetUniqueId(occlUniqueId* id);

// LITERALINCLUDE START: OCCL_NET
/* Carries bytes between ranks on different hosts, as NCCL's network plug-ins do. Every
 * function may be called by several threads at a time, and inside kernels: it must not
 * call the driver. `peer` is a rank. Messages of one rank to another with one tag
 * arrive in order. A request is freed by `wait`, whatever that returns. */
typedef struct occlNet {
  void* context; /* the first argument of every function */
  occlResult_t (*allGather)(void* context, const void* mine, void* all, size_t bytes,
                            int64_t timeoutMs);
  occlResult_t (*isend)(void* context, const void* data, size_t bytes, int peer,
                        int tag, void** request);
  /* `peer` may be occlAnySource. */
  occlResult_t (*irecv)(void* context, void* data, size_t bytes, int peer, int tag,
                        void** request);
  /* Returns when the data was sent or has arrived, or after the time. `source`: the
   * sender, for a receive from any; may be null. */
  occlResult_t (*wait)(void* context, void* request, int64_t timeoutMs, int* source);
  /* Makes every call that waits fail, on this rank and soon on the others. */
  void (*abort)(void* context);
  /* Frees the context, with the communicator. */
  void (*close)(void* context);
  /* What was wrong in the last failing call of this thread. */
  const char* (*lastError)(void* context);
} occlNet_t;
// LITERALINCLUDE END: OCCL_NET

typedef struct occlConfig {
  int64_t timeoutMs;    /* Extension: how long ranks wait for each other; 0: 600 s */
  const occlNet_t* net; /* copied; NULL: all ranks must be on one host */
} occlConfig_t;

/* Joins a communicator of `nranks` as `rank`; waits for all other ranks. */
OPENREG_API occlResult_t occlCommInitRank(occlComm_t* comm, int nranks, occlUniqueId id,
                                          int rank);
/* As occlCommInitRank, with a time limit and a plug-in. The plug-in belongs to the
 * communicator if the call succeeds. */
OPENREG_API occlResult_t occlCommInitRankConfig(occlComm_t* comm, int nranks,
                                                occlUniqueId id, int rank,
                                                const occlConfig_t* config);
/* Frees the handle. Enqueued work still runs. Afterwards this rank has left the group,
 * and ranks that wait for it fail. NULL does nothing. */
OPENREG_API occlResult_t occlCommDestroy(occlComm_t comm);
/* Frees the handle. Enqueued work fails at once, on every rank, but the devices of this
 * rank get no sticky error. */
OPENREG_API occlResult_t occlCommAbort(occlComm_t comm);
/* The first failure of a kernel of this communicator, or occlSuccess. */
OPENREG_API occlResult_t occlCommGetAsyncError(occlComm_t comm, occlResult_t* error);
/* The number of ranks, and the rank of this handle. */
OPENREG_API occlResult_t occlCommCount(occlComm_t comm, int* count);
OPENREG_API occlResult_t occlCommUserRank(occlComm_t comm, int* rank);
/* The device that was current when the communicator was made. Calls may use others. */
OPENREG_API occlResult_t occlCommOrDevice(occlComm_t comm, int* device);
/* Extension: whether the ranks share memory; 0: they use the plug-in. */
OPENREG_API occlResult_t occlCommSharesMemory(occlComm_t comm, int* shares);

/* ----------------------------------------------------------- collectives --- */

/* Values equal those of ncclDataType_t. */
typedef enum occlDataType {
  occlInt8 = 0,
  occlUint8 = 1,
  occlInt32 = 2,
  occlUint32 = 3,
  occlInt64 = 4,
  occlUint64 = 5,
  occlFloat16 = 6,
  occlFloat32 = 7,
  occlFloat64 = 8,
  occlBfloat16 = 9
} occlDataType_t;

/* Values up to occlAvg equal those of ncclRedOp_t. Minimum and maximum of a NaN are
 * NaN. */
typedef enum occlRedOp {
  occlSum = 0,
  occlProd = 1,
  occlMax = 2,
  occlMin = 3,
  occlAvg = 4,
  occlBitAnd = 5, /* Extension: the bits of integers */
  occlBitOr = 6,
  occlBitXor = 7
} occlRedOp_t;

/* Every rank gets the reduction of all `send`. It is computed in the order of the
 * ranks: all ranks get the same bits. `recv` may equal `send`. */
OPENREG_API occlResult_t occlAllReduce(const void* send, void* recv, size_t count,
                                       occlDataType_t dtype, occlRedOp_t op,
                                       occlComm_t comm, orStream_t stream);
/* As occlAllReduce, but only rank `root` writes `recv`. */
OPENREG_API occlResult_t occlReduce(const void* send, void* recv, size_t count,
                                    occlDataType_t dtype, occlRedOp_t op, int root,
                                    occlComm_t comm, orStream_t stream);
/* Every rank gets the contents of `send` on rank `root`. */
OPENREG_API occlResult_t occlBroadcast(const void* send, void* recv, size_t count,
                                       occlDataType_t dtype, int root, occlComm_t comm,
                                       orStream_t stream);
/* `count` elements of each rank, one rank behind the other. `send` may be the rank's
 * own place in `recv`. */
OPENREG_API occlResult_t occlAllGather(const void* send, void* recv, size_t count,
                                       occlDataType_t dtype, occlComm_t comm,
                                       orStream_t stream);
/* `send` has `count` elements for each rank, and `recv` gets the reduction of the
 * elements for this rank.
 * `recv` may be the rank's own place in `send`. */
OPENREG_API occlResult_t occlReduceScatter(const void* send, void* recv, size_t count,
                                           occlDataType_t dtype, occlRedOp_t op,
                                           occlComm_t comm, orStream_t stream);

/* Messages between two ranks, in order. A send ends after the receive has begun; both
 * fail if type or count differ. */
OPENREG_API occlResult_t occlSend(const void* send, size_t count, occlDataType_t dtype,
                                  int peer, occlComm_t comm, orStream_t stream);
OPENREG_API occlResult_t occlRecv(void* recv, size_t count, occlDataType_t dtype,
                                  int peer, occlComm_t comm, orStream_t stream);

enum { occlAnySource = -1, occlMaxTag = 700000000 };
/* Extension: messages with a tag, from 0 to occlMaxTag, which match only messages with
 * the same tag. A receive may be from occlAnySource. */
OPENREG_API occlResult_t occlSendTag(const void* send, size_t count,
                                     occlDataType_t dtype, int peer, int tag,
                                     occlComm_t comm, orStream_t stream);
OPENREG_API occlResult_t occlRecvTag(void* recv, size_t count, occlDataType_t dtype,
                                     int peer, int tag, occlComm_t comm,
                                     orStream_t stream);

/* Extension: the kernel waits until all ranks have called it, and fails on every rank
 * if the texts differ. */
OPENREG_API occlResult_t occlVerify(const char* text, occlComm_t comm,
                                    orStream_t stream);
/* Extension: waits on the host until all ranks have called it. The error
 * names each rank that is late. No collective of the communicator may be running. */
OPENREG_API occlResult_t occlMonitoredBarrier(occlComm_t comm, int64_t timeoutMs);

/* ---------------------------------------------------------------- groups --- */

/* Calls between the two become one kernel for each communicator and stream. Groups
 * nest; the outermost group counts. Messages in a group cannot block each other. In a
 * group with a collective (or occlVerify), every rank must make the same collectives,
 * and every rank fails if one message does not match. */
OPENREG_API occlResult_t occlGroupStart(void);
OPENREG_API occlResult_t occlGroupEnd(void);

// LITERALINCLUDE START: OCCL_GROUP_OPTIONS
/* Extension: reports the end of an operation to a PyTorch backend, which therefore
 * needs no watchdog thread, unlike ProcessGroupNCCL. */
typedef struct occlGroupOptions {
  const char* name;   /* of the kernel; a literal; NULL: the function's name */
  const char* prefix; /* copied; precedes the text of a fault; NULL: the rank */
  int64_t timeoutMs;  /* 0: the timeout of the communicator */
  /* Called inside the kernel when the operation is over: result, text of a failure, and
   * the sender of the last receive from any rank, or -1. NULL: not called. */
  void (*finished)(void* arg, occlResult_t result, const char* text, int source);
  void (*release)(void* arg); /* called once, if occlGroupEndWith() succeeds */
  void* arg;
} occlGroupOptions_t;
/* Ends a group of calls of one communicator on one stream. */
OPENREG_API occlResult_t occlGroupEndWith(const occlGroupOptions_t* options);
// LITERALINCLUDE END: OCCL_GROUP_OPTIONS

#ifdef __cplusplus
}
#endif
#endif /* OPENREG_OCCL_H */
