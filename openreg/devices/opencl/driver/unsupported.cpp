// Captures, graphs and records of activities, which OpenCL lacks;
// see docs/opencl/driver.md.
#include "process.h"
#include "stream.h"

namespace oclrt {
namespace {

// OpenCL: nothing records the work of a queue (cl_khr_command_buffer is a provisional
// extension, and records no copies of shared virtual memory). Instead, these calls
// fail.
orError_t refuse_graphs(const char* function) {
  return call(function, 0, [] {
    return fail(orErrorNotSupported,
                "OpenCL does not capture the work of a stream: run it without a graph");
  });
}

}  // namespace
}  // namespace oclrt

using namespace oclrt;

orError_t orStreamBeginCapture(orStream_t, orStreamCaptureMode) {
  return refuse_graphs(__func__);
}

orError_t orStreamEndCapture(orStream_t, orGraph_t*) { return refuse_graphs(__func__); }

orError_t orGraphGetNodeCount(orGraph_t, size_t*) { return refuse_graphs(__func__); }

orError_t orGraphInstantiate(orGraphExec_t*, orGraph_t) {
  return refuse_graphs(__func__);
}

orError_t orGraphLaunch(orGraphExec_t, orStream_t) { return refuse_graphs(__func__); }

orError_t orGraphDestroy(orGraph_t) { return refuse_graphs(__func__); }

orError_t orGraphExecDestroy(orGraphExec_t) { return refuse_graphs(__func__); }

// No stream captures, so these two succeed.
orError_t orStreamIsCapturing(orStream_t handle, int* capturing) {
  return call(__func__, kStart, [&] {
    if (capturing == nullptr) return fail(orErrorInvalidValue, "capturing is null");
    Stream stream;
    if (orError_t error = find_stream(handle, &stream)) return error;
    *capturing = 0;
    return orSuccess;
  });
}

orError_t orThreadExchangeStreamCaptureMode(orStreamCaptureMode* mode) {
  return call(__func__, 0, [&] {
    static thread_local orStreamCaptureMode current = orStreamCaptureModeGlobal;
    if (mode == nullptr || *mode < orStreamCaptureModeGlobal ||
        *mode > orStreamCaptureModeRelaxed) {
      return fail(orErrorInvalidValue, "mode is null, or not an orStreamCaptureMode");
    }
    std::swap(current, *mode);
    return orSuccess;
  });
}

#ifdef OCLRT_HAS_GRAPH
orError_t orStreamGetCaptureInfo(orStream_t stream, int* capturing, uint64_t* id) {
  if (id == nullptr) {
    return call(__func__, 0, [] { return fail(orErrorInvalidValue, "id is null"); });
  }
  const orError_t error = orStreamIsCapturing(stream, capturing);
  if (error == orSuccess) *id = 0;
  return error;
}

orError_t orGraphDebugDotPrint(orGraph_t, const char*) {
  return refuse_graphs(__func__);
}
#endif

#ifdef OCLRT_HAS_ACTIVITY
// OpenCL: each event has times, but a profiler also needs names and the numbers of the
// calls. Instead, these calls fail, and the profiler shows only the host side.
orError_t orActivityStart(orActivityFn_t, orActivityClock_t, void*) {
  return call(__func__, kInTask, [] {
    return fail(orErrorNotSupported,
                "OpenCL keeps no record of activities: profile only the CPU side");
  });
}

orError_t orActivityStop(size_t*) {
  return call(__func__, kInTask, [] {
    return fail(orErrorInvalidValue, "no record of activities was started");
  });
}
#endif
