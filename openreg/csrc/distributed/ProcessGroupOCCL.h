// Collectives of openreg tensors over several processes; see
// docs/modules/distributed.md.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "csrc/Export.h"
#include "csrc/distributed/OnBoard.h"
#include "csrc/distributed/WorkOCCL.h"

namespace openreg {

// Follows torch/csrc/distributed/c10d/Backend.hpp. `occl` orders and checks; the bytes
// travel with a backend for CPU tensors, the carrier, which is Gloo. A device with a
// communication library of its own calls that library in the carrier's place.
//
// Every function checks its tensors, enqueues and returns. What the ranks do not agree
// on, and what goes wrong on the way, is a fault of the device: see WorkOCCL::wait().
class OPENREG_EXPORT ProcessGroupOCCL final : public c10d::Backend {
 public:
  using Tensors = std::vector<at::Tensor>;
  using Lists = std::vector<Tensors>;
  using WorkPtr = c10::intrusive_ptr<c10d::Work>;

  // Waits for the other ranks: not with the GIL, since a rank may be a thread.
  explicit ProcessGroupOCCL(c10::intrusive_ptr<c10d::Backend> carrier);

  const std::string getBackendName() const override { return "occl"; }
  c10::intrusive_ptr<Options> getBackendOptions() override {
    return carrier_->getBackendOptions();
  }
  // For operations that are enqueued from now on and name none themselves.
  void setTimeout(std::chrono::milliseconds timeout) override {
    carrier_->setTimeout(timeout);
  }
  // Debug mode compares it between ranks at each call. Not the carrier's: it counts
  // what the device has come to.
  void setSequenceNumberForGroup() override {}
  uint64_t getSequenceNumberForGroup() override;

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
  // Returns when all ranks have come, or throws who has not.
  void monitoredBarrier(const c10d::BarrierOptions& options, bool wait_all) override;

  // What is called from here on returns one Work, which endCoalescing() returns: it is
  // over when all are. Null if there was nothing.
  bool supportsCoalescing() const override { return true; }
  void startCoalescing() override;
  WorkPtr endCoalescing() override;

  // A group of some of the ranks; every rank of this group calls it. Null on ranks that
  // are not in it. `options`: the carrier's own class, and the new group keeps them.
  bool supportsSplitting() const override { return true; }
  c10::intrusive_ptr<Backend> split(
      const c10::intrusive_ptr<c10d::Store>& store, const std::vector<int>& ranks,
      const c10::intrusive_ptr<Options>& options) override;
  // A group of `size` ranks of several groups, this one as `rank`.
  c10::intrusive_ptr<Backend> merge(const c10::intrusive_ptr<c10d::Store>& store,
                                    const c10::intrusive_ptr<Options>& options,
                                    const int& rank, const int& size) override;

  // What is under way and what waits in the lanes fails, at once and on every rank; the
  // device of this rank stays usable. Any thread may call it, also while others wait.
  void abort() override;
  // Waits for everything that was enqueued. Later calls throw.
  void shutdown() override;
  // TIMEOUT or COMM_ERROR if an operation failed on this rank, else SUCCESS.
  c10d::ErrorType getError() override { return state_->error; }

 private:
  // A collective: what it is called with, and how the carrier does it.
  struct Collective {
    const char* name;  // literal; errors and traces show it
    c10d::OpType type;
    Tensors outputs;
    Tensors inputs;
    // Every rank must pass tensors of these sizes and this dtype.
    Tensors share;
    std::chrono::milliseconds timeout = c10d::kUnsetTimeout;
    int64_t root = -1;
    int64_t reduce = -1;
    // For an exchange, where sizes may differ: bytes to each rank, then from each.
    std::vector<int64_t> splits = {};
    // If the board can do it: called on the device, as `carry` is.
    std::function<Take(const Tensors& outputs)> on_board = {};
    bool host_waits = false;
    c10::Device device{c10::DeviceType::PrivateUse1};
  };
  // Called on the device with CPU tensors of one dimension over outputs and inputs, of
  // bytes unless the collective reduces.
  using Carry = std::function<WorkPtr(c10d::Backend&, Tensors&, Tensors&)>;
  WorkPtr collective(Collective call, Carry carry);
  std::chrono::milliseconds timeout_of(const Collective& call);

  enum Direction { kAll, kSend, kReceive, kJoin };
  WorkPtr point_to_point(Direction direction, Tensors& tensors, int peer, int tag);

  // LITERALINCLUDE START: OCCL_LANES
  // What runs one after the other: a direction, a peer, a tag.
  using Sequence = std::tuple<Direction, int, int>;
  // The streams of a sequence, one for each device that it has used.
  struct Lanes {
    // Callers enqueue one after the other. Who holds it may wait for room in a stream,
    // and so for other ranks: hold mutex_ for no wait, and take it only behind `order`.
    std::mutex order;
    std::map<c10::DeviceIndex, c10::Stream> streams;
    std::optional<c10::Stream> last;  // of the last operation
    c10::Stream on(c10::DeviceIndex device);
  };
  // LITERALINCLUDE END: OCCL_LANES
  Lanes& lanes_of(const Sequence& sequence);
  // `run` is called on the device. Needs lanes.order.
  WorkPtr enqueue(const Collective& call, Lanes& lanes,
                  std::function<void(Outcome&)> run);
  // Throws if the group was aborted or destroyed.
  void check_not_over(const char* name) const;
  // "rank 0 of 2 in group 1 (evens)".
  std::string where() const;

  // Shared with the kernels: they may outlive the group.
  struct State {
    std::atomic<bool> aborted = false;
    std::atomic<c10d::ErrorType> error = c10d::ErrorType::SUCCESS;
    // On the device: runs an operation. An exception is kept for the Work and becomes a
    // fault of the device; it does not if the program itself aborted.
    void attempt(const std::string& who, std::chrono::milliseconds timeout,
                 const std::function<void(Outcome&)>& run, Outcome& outcome);
    // On the device: waits for a message from any rank. abort() ends it: no connection
    // is to blame, so to close them all does not.
    void wait_for_any(const WorkPtr& message, std::chrono::milliseconds timeout);
    void abort_messages();

   private:
    std::mutex mutex_;
    std::set<WorkPtr> from_any_;  // that wait now
  };

  const c10::intrusive_ptr<c10d::Backend> carrier_;
  const std::shared_ptr<Board> board_;  // null: the ranks are not on one host
  const std::shared_ptr<State> state_ = std::make_shared<State>();
  std::atomic<int64_t> collectives_ = 0;  // so far
  std::atomic<bool> shut_down_ = false;
  std::mutex mutex_;                 // guards what follows; nobody waits under it
  std::map<Sequence, Lanes> lanes_;  // none is ever erased
  // Between startCoalescing() and endCoalescing(): what was called.
  std::optional<std::vector<c10::intrusive_ptr<WorkOCCL>>> coalesced_;
};

}  // namespace openreg
