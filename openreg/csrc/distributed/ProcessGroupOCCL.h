// Collectives of openreg tensors over several processes; see
// docs/modules/distributed.md.
#pragma once

#include <occl.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "csrc/Export.h"
#include "csrc/distributed/FlightRecorder.h"
#include "csrc/distributed/GroupHooks.h"
#include "csrc/distributed/WorkOCCL.h"

namespace openreg {

// Follows torch/csrc/distributed/c10d/Backend.hpp. Checks, orders, and calls OCCL, the
// communication library, as ProcessGroupNCCL calls NCCL.
//
// Every function checks its tensors, enqueues and returns. Mismatched calls of the
// ranks, and later failures, become a device fault: see WorkOCCL::wait().
class OPENREG_EXPORT ProcessGroupOCCL final : public c10d::Backend {
 public:
  using Tensors = std::vector<at::Tensor>;
  using Lists = std::vector<Tensors>;
  using WorkPtr = c10::intrusive_ptr<c10d::Work>;

  // Waits for the other ranks: not with the GIL, since a rank may be a thread. `host`
  // is a group of the same ranks for CPU tensors: it has the options, and it reaches
  // ranks on other hosts. A library with its own network needs no such group.
  ProcessGroupOCCL(c10::intrusive_ptr<c10d::Store> store,
                   c10::intrusive_ptr<c10d::Backend> host);
  ~ProcessGroupOCCL() override;

  const std::string getBackendName() const override { return "occl"; }
  c10::intrusive_ptr<Options> getBackendOptions() override {
    return host_->getBackendOptions();
  }
  // For operations that are enqueued from now on and name none themselves.
  void setTimeout(std::chrono::milliseconds timeout) override {
    host_->setTimeout(timeout);
  }
  // Debug mode compares it between ranks at each call. It counts
  // what was enqueued.
  void setSequenceNumberForGroup() override {}
  uint64_t getSequenceNumberForGroup() override;
  // From now on, each Work has a duration.
  void enableCollectivesTiming() override { timed_ = true; }

  WorkPtr broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override;
  WorkPtr allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override;
  WorkPtr allreduce_coalesced(Tensors& tensors,
                              const c10d::AllreduceCoalescedOptions& options) override;
  WorkPtr reduce(Tensors& tensors, const c10d::ReduceOptions& options) override;

  WorkPtr allgather(Lists& outputs, Tensors& inputs,
                    const c10d::AllgatherOptions& options) override;
  WorkPtr _allgather_base(at::Tensor& output, at::Tensor& input,
                          const c10d::AllgatherOptions& options) override;
  WorkPtr allgather_coalesced(Lists& outputs, Tensors& inputs,
                              const c10d::AllgatherOptions& options) override;
  WorkPtr allgather_into_tensor_coalesced(
      Tensors& outputs, Tensors& inputs,
      const c10d::AllgatherOptions& options) override;
  WorkPtr gather(Lists& outputs, Tensors& inputs,
                 const c10d::GatherOptions& options) override;
  WorkPtr scatter(Tensors& outputs, Lists& inputs,
                  const c10d::ScatterOptions& options) override;

  WorkPtr reduce_scatter(Tensors& outputs, Lists& inputs,
                         const c10d::ReduceScatterOptions& options) override;
  WorkPtr _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                               const c10d::ReduceScatterOptions& options) override;
  WorkPtr reduce_scatter_tensor_coalesced(
      Tensors& outputs, Tensors& inputs,
      const c10d::ReduceScatterOptions& options) override;

  WorkPtr alltoall_base(at::Tensor& output, at::Tensor& input,
                        std::vector<int64_t>& output_splits,
                        std::vector<int64_t>& input_splits,
                        const c10d::AllToAllOptions& options) override;
  WorkPtr alltoall(Tensors& outputs, Tensors& inputs,
                   const c10d::AllToAllOptions& options) override;

  WorkPtr send(Tensors& tensors, int to, int tag) override;
  WorkPtr recv(Tensors& tensors, int from, int tag) override;
  WorkPtr recvAnysource(Tensors& tensors, int tag) override;

  // The host waits in wait(), and all work before it on the current stream is done.
  WorkPtr barrier(const c10d::BarrierOptions& options) override;
  // Returns when all ranks have called it. The exception names all missing ranks, even
  // without `wait_all`.
  void monitoredBarrier(const c10d::BarrierOptions& options, bool wait_all) override;

  // Collectives after startCoalescing() share one Work, which endCoalescing() returns.
  // It completes when all of them have. Null if there was no collective.
  bool supportsCoalescing() const override { return true; }
  void startCoalescing() override;
  WorkPtr endCoalescing() override;

  // A group of some of the ranks; every rank of this group calls it. Null on ranks that
  // are not in it. `options`: of the class that the group for CPU tensors has.
  bool supportsSplitting() const override { return true; }
  c10::intrusive_ptr<Backend> split(
      const c10::intrusive_ptr<c10d::Store>& store, const std::vector<int>& ranks,
      const c10::intrusive_ptr<Options>& options) override;
  // A group of `size` ranks of several groups, this one as `rank`.
  c10::intrusive_ptr<Backend> merge(const c10::intrusive_ptr<c10d::Store>& store,
                                    const c10::intrusive_ptr<Options>& options,
                                    const int& rank, const int& size) override;

  // Running and enqueued operations fail, at once and on every rank; the device of this
  // rank stays usable. Any thread may call it, even while other threads wait.
  void abort() override;
  // Waits for everything that was enqueued. Later calls throw.
  void shutdown() override;
#if OPENREG_TORCH_HAS_HOOKS
  bool supportsCompletionHooks() const override { return true; }
  void registerCompletionHook(int64_t id, c10d::CompletionHook hook) override {
    // Inside the kernel, the event behind it is not recorded: there is no duration yet.
    state_->hooks.set(id, GroupHooks::OnCompletion([hook](uint64_t key) {
                        hook({.completionKey = key, .duration_ms = std::nullopt});
                      }));
  }
  void unregisterCompletionHook(int64_t id) override {
    state_->hooks.erase_on_completion(id);
  }
  bool supportsAbortHooks() const override { return true; }
  void registerAbortHook(int64_t id, c10d::AbortHook hook) override {
    state_->hooks.set(id, GroupHooks::OnFailure(std::move(hook)));
  }
  void unregisterAbortHook(int64_t id) override { state_->hooks.erase_on_failure(id); }
#endif
  // TIMEOUT or COMM_ERROR if an operation failed on this rank, else SUCCESS.
  c10d::ErrorType getError() override { return state_->error; }

 private:
  struct Operation {
    const char* name;  // literal; errors and traces show it
    c10d::OpType type;
    Tensors outputs;
    Tensors inputs;
    std::chrono::milliseconds timeout = c10d::kUnsetTimeout;
    // What must be equal on all ranks and is not part of the calls; empty: nothing.
    std::string common = {};
    bool host_waits = false;
    int peer = -1;  // of a message
    c10::Device device{c10::DeviceType::PrivateUse1};
    FlightRecorder::Traceback traceback = {};
  };
  // Calls the library, which enqueues on the stream. All calls are one group.
  using Calls = std::function<void(occlComm_t, orStream_t)>;
  WorkPtr collective(Operation operation, const Calls& calls);
  // `outputs`: a list for each rank, with a tensor for each input.
  WorkPtr gather_lists(const char* name, c10d::OpType type, const Lists& outputs,
                       const Tensors& inputs, std::chrono::milliseconds timeout);
  std::chrono::milliseconds timeout_of(const Operation& operation);

  enum Direction { kAll, kSend, kReceive, kJoin };
  WorkPtr point_to_point(Direction direction, Tensors& tensors, int peer, int tag);

  // LITERALINCLUDE START: OCCL_STREAM_KEY
  // The key of operations that run one after another: direction, peer and tag.
  using StreamKey = std::tuple<Direction, int, int>;
  // The streams of a key, one for each device that it has used.
  struct OrderedStreams {
    // Callers enqueue one after another. The thread that holds it may wait for room in
    // a stream, and so for other ranks. Never wait while holding mutex_, and lock it
    // only after `order`.
    std::mutex order;
    std::map<c10::DeviceIndex, c10::Stream> streams;
    std::optional<c10::Stream> last;  // of the last operation
    c10::Stream on(c10::DeviceIndex device);
  };
  // LITERALINCLUDE END: OCCL_STREAM_KEY
  OrderedStreams& streams_of(const StreamKey& key);
  // Needs streams.order.
  WorkPtr enqueue(const Operation& operation, OrderedStreams& streams,
                  const Calls& calls);
  // Lets the flight recorder keep what is about to be enqueued; returns what
  // FlightRecorder::refuse() takes. Needs streams.order.
  int64_t record(const Operation& operation, WorkEvents::Ptr events);
  // The steps before a lock is taken, because they take the GIL or wait for the device.
  void observe(Operation& operation) const;
  // Throws if this rank is about to send a NaN.
  void check_nan(const Operation& operation) const;
  // Throws if the group was aborted or destroyed.
  void check_not_over(const char* name) const;
  // "rank 0 of 2 in group 1 (evens)".
  std::string where() const;

  // Shared with the operations under way: they may outlive the group.
  struct State {
    std::atomic<bool> aborted = false;
    std::atomic<c10d::ErrorType> error = c10d::ErrorType::SUCCESS;
    GroupHooks hooks;
  };
  // What the library returns when an operation is over.
  struct Ending;

  const c10::intrusive_ptr<c10d::Backend> host_;
  const occlComm_t comm_;
  const std::shared_ptr<State> state_ = std::make_shared<State>();
  std::atomic<uint64_t> collectives_ = 0, messages_ = 0;  // so far
  std::atomic<bool> timed_ = false;
  const bool checks_nan_;
  std::atomic<bool> shut_down_ = false;
  std::mutex mutex_;  // guards what follows; never held while waiting
  std::map<StreamKey, OrderedStreams> streams_;  // none is ever erased
  // Between startCoalescing() and endCoalescing(): what was called.
  std::optional<std::vector<c10::intrusive_ptr<WorkOCCL>>> coalesced_;
};

}  // namespace openreg
