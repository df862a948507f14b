// Memory of other processes, and collectives, which OpenCL lacks;
// see docs/opencl/driver.md.
#include "../process.h"
#include "occl.h"
#include "openreg_ipc.h"

using namespace oclrt;

namespace {

constexpr const char* kNoCollectives =
    "OpenCL has no collectives: copy to the CPU, and use the backend 'gloo' there";

// OpenCL: cl_khr_external_memory imports memory, but does not export it.
orError_t refuse_sharing(const char* function) {
  return call(function, 0, [] {
    return fail(orErrorNotSupported,
                "OpenCL cannot share memory with other processes: send CPU tensors");
  });
}

occlResult_t refuse() { return occlUnhandledError; }

}  // namespace

orError_t orIpcGetMemHandle(orIpcMemHandle_t*, void*) {
  return refuse_sharing(__func__);
}
orError_t orIpcOpenMemHandle(void**, orIpcMemHandle_t) {
  return refuse_sharing(__func__);
}
orError_t orIpcCloseMemHandle(void*) { return refuse_sharing(__func__); }

const char* occlGetErrorString(occlResult_t result) {
  return result == occlSuccess ? "no error" : kNoCollectives;
}
const char* occlGetLastError(occlComm_t) { return kNoCollectives; }

// These only count.
occlResult_t occlGroupStart(void) { return occlSuccess; }
occlResult_t occlGroupEnd(void) { return occlSuccess; }
occlResult_t occlGroupEndWith(const occlGroupOptions_t*) { return refuse(); }

// Succeeds, because the other ranks wait for the id: each rank fails when it joins.
occlResult_t occlGetUniqueId(occlUniqueId* id) {
  if (id == nullptr) return refuse();
  *id = {};
  return occlSuccess;
}
occlResult_t occlCommInitRank(occlComm_t*, int, occlUniqueId, int) { return refuse(); }
occlResult_t occlCommInitRankConfig(occlComm_t*, int, occlUniqueId, int,
                                    const occlConfig_t*) {
  return refuse();
}
occlResult_t occlCommDestroy(occlComm_t) { return refuse(); }
occlResult_t occlCommAbort(occlComm_t) { return refuse(); }
occlResult_t occlCommGetAsyncError(occlComm_t, occlResult_t*) { return refuse(); }
occlResult_t occlCommCount(occlComm_t, int*) { return refuse(); }
occlResult_t occlCommUserRank(occlComm_t, int*) { return refuse(); }
occlResult_t occlCommOrDevice(occlComm_t, int*) { return refuse(); }
occlResult_t occlCommSharesMemory(occlComm_t, int*) { return refuse(); }

occlResult_t occlAllReduce(const void*, void*, size_t, occlDataType_t, occlRedOp_t,
                           occlComm_t, orStream_t) {
  return refuse();
}
occlResult_t occlReduce(const void*, void*, size_t, occlDataType_t, occlRedOp_t, int,
                        occlComm_t, orStream_t) {
  return refuse();
}
occlResult_t occlBroadcast(const void*, void*, size_t, occlDataType_t, int, occlComm_t,
                           orStream_t) {
  return refuse();
}
occlResult_t occlAllGather(const void*, void*, size_t, occlDataType_t, occlComm_t,
                           orStream_t) {
  return refuse();
}
occlResult_t occlReduceScatter(const void*, void*, size_t, occlDataType_t, occlRedOp_t,
                               occlComm_t, orStream_t) {
  return refuse();
}
occlResult_t occlSend(const void*, size_t, occlDataType_t, int, occlComm_t,
                      orStream_t) {
  return refuse();
}
occlResult_t occlRecv(void*, size_t, occlDataType_t, int, occlComm_t, orStream_t) {
  return refuse();
}
occlResult_t occlSendTag(const void*, size_t, occlDataType_t, int, int, occlComm_t,
                         orStream_t) {
  return refuse();
}
occlResult_t occlRecvTag(void*, size_t, occlDataType_t, int, int, occlComm_t,
                         orStream_t) {
  return refuse();
}
occlResult_t occlVerify(const char*, occlComm_t, orStream_t) { return refuse(); }
occlResult_t occlMonitoredBarrier(occlComm_t, int64_t) { return refuse(); }
