// torch.accelerator.Graph: captured work that can be replayed; see
// docs/modules/graphs.md.
#include "csrc/runtime/graph/OpenRegGraph.h"

#include <ATen/core/CachingHostAllocator.h>
#include <openreg_graph.h>

#include <utility>

#include "csrc/runtime/device/OpenRegGuard.h"
#include "csrc/runtime/errors/OpenRegException.h"
#include "csrc/runtime/memory/OpenRegDeviceAllocator.h"
#include "csrc/runtime/stream/OpenRegStream.h"

namespace openreg {
namespace {

constexpr c10::MempoolId_t kAnyPool{0, 0};

orStreamCaptureMode driver_mode(at::GraphCaptureMode mode) {
  switch (mode) {
    case at::GraphCaptureMode::ThreadLocal:
      return orStreamCaptureModeThreadLocal;
    case at::GraphCaptureMode::Relaxed:
      return orStreamCaptureModeRelaxed;
    default:  // the strictest, as on CUDA
      return orStreamCaptureModeGlobal;
  }
}

template <class Call>
void for_each_cache(Call call) {
  for (DeviceIndex device = 0; device < device_count(); ++device) {
    call(OpenRegDeviceAllocator::get().cache_of(device));
  }
}

at::HostAllocator& host_pools() { return *at::getHostAllocator(at::kPrivateUse1); }

// The pool for a capture. A pool of graphs exists as long as one of its graphs.
c10::MempoolId_t choose_pool(c10::MempoolId_t wanted) {
  if (wanted == kAnyPool) {
    return OpenRegDeviceAllocator::new_graph_pool();
  }
  const bool of_a_graph = wanted.first != 0;
  TORCH_CHECK_VALUE(
      !of_a_graph || OpenRegDeviceAllocator::get().cache_of(0).has_pool(wanted),
      "openreg: the pool (", wanted.first, ", ", wanted.second,
      ") no longer exists, because no graph uses it: keep one of its graphs, or create "
      "a pool with torch.openreg.graph_pool_handle()");
  return wanted;
}

void release_pools(c10::MempoolId_t pool, bool shared) {
  for_each_cache([&](DeviceCachingAllocator& cache) { cache.release_pool(pool); });
  if (!shared) {  // torch's host allocator cannot revive a pool that was released
    host_pools().release_pool(pool);
  }
}

// Copies a state to the device without waiting: from pinned memory, which the host
// allocator keeps until the copy is done.
void write_state(void* where, PhiloxState state, const c10::Stream& stream) {
  at::HostAllocator* pinned = at::getHostAllocator(at::kPrivateUse1);
  const at::DataPtr from = pinned->allocate(sizeof state);
  *static_cast<PhiloxState*>(from.get()) = state;
  OPENREG_CHECK(orMemcpyAsync(where, from.get(), sizeof state, orMemcpyHostToDevice,
                              native_handle(stream)));
  pinned->record_event(from.get(), from.get_context(), stream);
}

}  // namespace

void OpenRegGraph::capture_begin(c10::MempoolId_t pool, at::GraphCaptureMode mode) {
  const std::lock_guard lock(mutex_);
  TORCH_CHECK(capture_ == nullptr,
              "openreg: capture_begin() of a graph that is being captured: call "
              "capture_end() first");
  TORCH_CHECK(!captured_,
              "openreg: capture_begin() of a graph that was captured: call reset() "
              "first, or make another Graph");
  // LITERALINCLUDE START: GRAPH_BEGIN
  pool_ = choose_pool(pool);
  shared_pool_ = pool != kAnyPool;
  stream_ = current_stream(current_device());
  auto capture = std::make_shared<Capture>();
  begin_pools(capture);  // (1)
  const orStream_t stream = native_handle(*stream_);
  orError_t error = orSuccess;
  uint64_t id = 0;
  {
    const std::unique_lock no_event_is_recorded(capture_mutex());  // (2)
    error = orStreamBeginCapture(stream, driver_mode(mode));
    int capturing = 0;
    orStreamGetCaptureInfo(stream, &capturing, &id);
  }
  if (error != orSuccess) {
    end_pools();
    release_pools(pool_, shared_pool_);
    throwError(error, {__func__, __FILE__, uint32_t{__LINE__}});
  }
  StreamCapture::start(capture, id);  // (3)
  capture_ = std::move(capture);
  // LITERALINCLUDE END: GRAPH_BEGIN
}

// LITERALINCLUDE START: GRAPH_POOLS
void OpenRegGraph::begin_pools(const std::shared_ptr<Capture>& capture) {
  const StreamFilter filter = [capture](const c10::Stream& stream) {
    return capture->has(stream);
  };
  // Throws for invalid settings, before a capture begins.
  for_each_cache([](DeviceCachingAllocator&) {});
  host_pools().begin_allocate_to_pool(pool_, filter);  // refuses one that is recording
  for_each_cache(
      [&](DeviceCachingAllocator& cache) { cache.begin_pool(pool_, filter); });
}
// LITERALINCLUDE END: GRAPH_POOLS

void OpenRegGraph::end_pools() {
  for_each_cache([&](DeviceCachingAllocator& cache) { cache.end_pool(pool_); });
  host_pools().end_allocate_to_pool(pool_);
}

// LITERALINCLUDE START: GRAPH_END
std::string OpenRegGraph::end_capture() {
  const OpenRegGuard scope(stream_->device_index());
  const bool moved = current_stream(stream_->device_index()) != *stream_;
  const orError_t error = orStreamEndCapture(native_handle(*stream_), &graph_);  // (1)
  std::string why = capture_->invalidated_by();                                  // (2)
  if (why.empty() && error != orSuccess) {
    why = c10::str(orGetErrorDetail(), " (", orGetErrorName(error), ")");
  }
  if (why.empty() && moved) {
    why = "the current stream is not the one on which the capture began";
  }
  draws_ = capture_->take_draws();  // (3)
  std::exchange(capture_, nullptr)->finish();
  captured_ = true;  // from here on release() frees what there is
  end_pools();
  return why;
}
// LITERALINCLUDE END: GRAPH_END

// LITERALINCLUDE START: GRAPH_FINISH
void OpenRegGraph::capture_end() {
  std::unique_lock lock(mutex_);
  TORCH_CHECK(capture_ != nullptr,
              "openreg: capture_end() without a capture_begin() before it");
  const std::string why = end_capture();
  if (!why.empty()) {
    release(std::move(lock));  // (1)
    throw c10::AcceleratorError(
        {__func__, __FILE__, uint32_t{__LINE__}}, orErrorStreamCaptureInvalidated,
        c10::str("openreg: capture_end(): there is no graph: ", why,
                 "; see \"Errors of graphs\" in the guide"));
  }
  size_t tasks = 0;
  OPENREG_CHECK(orGraphGetNodeCount(graph_, &tasks));
  if (!keep_) {
    make_executable();
  }
  lock.unlock();
  if (tasks == 0) {
    TORCH_WARN(
        "openreg: the graph is empty: between capture_begin() and capture_end() "
        "nothing was launched on ",
        *stream_);
  }
}
// LITERALINCLUDE END: GRAPH_FINISH

void OpenRegGraph::make_executable() {
  orGraphExec_t exec = nullptr;
  OPENREG_CHECK(orGraphInstantiate(&exec, graph_));
  std::swap(exec, exec_);
  if (exec != nullptr) {
    OPENREG_CHECK(orGraphExecDestroy(exec));
  }
  if (!keep_ && !debug_) {
    OPENREG_CHECK(orGraphDestroy(std::exchange(graph_, nullptr)));
  }
}

void OpenRegGraph::instantiate() {
  const std::lock_guard lock(mutex_);
  check_captured("instantiate()");
  TORCH_CHECK(keep_,
              "openreg: instantiate() requires a graph made with keep_graph=True: "
              "capture_end() already instantiated this graph");
  make_executable();
}

// LITERALINCLUDE START: GRAPH_REPLAY
void OpenRegGraph::replay() {
  const std::lock_guard lock(mutex_);
  check_captured("replay()");
  const DeviceIndex device = stream_->device_index();
  refuse_in_capture(
      device, "replay() of another graph",
      "both graphs would own the memory and the random numbers of the other graph");
  if (exec_ == nullptr) {
    make_executable();
  }
  const OpenRegGuard scope(device);
  const c10::Stream stream = current_stream(device);
  if (!draws_.empty()) {
    write_rng_states(stream);
  }
  OPENREG_CHECK(orGraphLaunch(exec_, native_handle(stream)));
  if (!draws_.empty()) {
    OPENREG_CHECK(orEventRecord(replayed_, native_handle(stream)));
  }
}
// LITERALINCLUDE END: GRAPH_REPLAY

// LITERALINCLUDE START: GRAPH_DRAW
// Reserves the random numbers of the graph in each generator, and writes their start.
void OpenRegGraph::write_rng_states(const c10::Stream& stream) {
  if (replayed_ == nullptr) {
    OPENREG_CHECK(orEventCreateWithFlags(&replayed_, orEventDisableTiming));
  }
  // The last replay, which may be on another stream, has read the old start by then.
  OPENREG_CHECK(orStreamWaitEvent(native_handle(stream), replayed_));
  for (const auto& [words, draws] : draws_) {
    write_state(draws.start.get(), words->reserve(draws.blocks), stream);
    OpenRegDeviceAllocator::get().recordStream(draws.start, stream);
  }
}
// LITERALINCLUDE END: GRAPH_DRAW

void OpenRegGraph::reset() {
  std::unique_lock lock(mutex_);
  TORCH_CHECK(capture_ == nullptr,
              "openreg: reset() of a graph that is being captured: call capture_end() "
              "first");
  release(std::move(lock));
}

// LITERALINCLUDE START: GRAPH_RELEASE
// Running replays complete: the driver keeps their tasks, and waits for the device
// before it frees memory.
void OpenRegGraph::release(std::unique_lock<std::mutex> lock) {
  if (!std::exchange(captured_, false) || orGetDriverState() != orDriverRunning) {
    return;  // never captured, or the process forks or exits
  }
  if (auto* exec = std::exchange(exec_, nullptr)) {
    orGraphExecDestroy(exec);
  }
  if (auto* graph = std::exchange(graph_, nullptr)) {
    orGraphDestroy(graph);
  }
  if (auto* event = std::exchange(replayed_, nullptr)) {
    orEventDestroy(event);
  }
  CapturedRngStates draws = std::exchange(draws_, {});
  const c10::MempoolId_t pool = pool_;
  const bool shared = shared_pool_;
  lock.unlock();  // freeing memory may call Python
  draws.clear();
  release_pools(pool, shared);
}
// LITERALINCLUDE END: GRAPH_RELEASE

OpenRegGraph::~OpenRegGraph() {
  std::unique_lock lock(mutex_);
  try {
    if (capture_ != nullptr && orGetDriverState() == orDriverRunning) {
      end_capture();  // after an exception: the stream must not stay in capture mode
    }
    release(std::move(lock));
  } catch (...) {  // of a destructor: no caller could catch it
  }
}

void OpenRegGraph::check_captured(const char* call) const {
  TORCH_CHECK(captured_, "openreg: ", call,
              " of a graph without a successful capture: ",
              capture_ != nullptr ? "call capture_end() first"
                                  : "call capture_begin() and capture_end() first");
}

c10::MempoolId_t OpenRegGraph::pool() const {
  const std::lock_guard lock(mutex_);
  check_captured("pool()");
  return pool_;
}

void OpenRegGraph::enable_debug_mode() {
  const std::lock_guard lock(mutex_);
  debug_ = true;
}

void OpenRegGraph::debug_dump(const std::string& path) {
  const std::lock_guard lock(mutex_);
  check_captured("debug_dump()");
  TORCH_CHECK(
      graph_ != nullptr,
      "openreg: debug_dump() of a graph that did not keep its tasks: call "
      "enable_debug_mode() before the capture, or pass keep_graph=True to Graph()");
  OPENREG_CHECK(orGraphDebugDotPrint(graph_, path.c_str()));
}

}  // namespace openreg

// VENDOR: whether your driver records graphs
// LITERALINCLUDE START: REGISTER_GRAPH
// The key is the device's name in upper case. With PrivateUse1 this compiles too, and
// no lookup finds it.
namespace at {
REGISTER_GRAPH_IMPL(OPENREG, openreg::OpenRegGraph)
}  // namespace at
// LITERALINCLUDE END: REGISTER_GRAPH
