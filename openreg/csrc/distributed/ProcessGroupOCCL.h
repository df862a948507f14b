// Collectives of openreg tensors over several processes; see
// docs/modules/distributed.md.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <tuple>
#include <vector>

#include "csrc/Export.h"
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

  explicit ProcessGroupOCCL(c10::intrusive_ptr<c10d::Backend> carrier);

  const std::string getBackendName() const override { return "occl"; }
  c10::intrusive_ptr<Options> getBackendOptions() override {
    return carrier_->getBackendOptions();
  }
  // For operations that are enqueued from now on and name none themselves.
  void setTimeout(std::chrono::milliseconds timeout) override {
    carrier_->setTimeout(timeout);
  }
  void setSequenceNumberForGroup() override { carrier_->setSequenceNumberForGroup(); }
  uint64_t getSequenceNumberForGroup() override {
    return carrier_->getSequenceNumberForGroup();
  }

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

  // Waits for everything that was enqueued.
  void shutdown() override;

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
    // For an exchange, where sizes may differ: bytes to and from each rank.
    std::vector<int64_t> sent = {};
    std::vector<int64_t> expected = {};
    bool host_waits = false;
    c10::Device device{c10::DeviceType::PrivateUse1};
  };
  // Called on the device with CPU tensors of one dimension over outputs and inputs, of
  // bytes unless the collective reduces.
  using Carry = std::function<WorkPtr(c10d::Backend&, Tensors&, Tensors&)>;
  WorkPtr collective(Collective call, Carry carry);

  enum Direction { kAll, kSend, kReceive };
  WorkPtr point_to_point(Direction direction, Tensors& tensors, int peer, int tag);

  // Operations of one lane run one after the other. Each has a stream.
  using Lane = std::tuple<c10::DeviceIndex, Direction, int, int>;
  c10::Stream stream_of(const Lane& lane);
  // `run` is called on the device. Needs mutex_.
  WorkPtr enqueue(const Collective& call, const Lane& lane,
                  std::function<void(Outcome&)> run);
  void wait_for_lanes();

  const c10::intrusive_ptr<c10d::Backend> carrier_;
  std::mutex mutex_;  // lanes are filled in the order in which callers come
  std::map<Lane, c10::Stream> lanes_;
  int64_t collectives_ = 0;  // so far
};

}  // namespace openreg
