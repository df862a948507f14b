// One operation of a process group, in flight; see docs/modules/distributed.md.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

#include "csrc/Export.h"
#include "csrc/distributed/GroupHooks.h"

namespace openreg {

// The state of an operation, shared by the host and the device: the caller may drop its
// Work while the device is still busy.
class WorkState {
 public:
  using Ptr = std::shared_ptr<WorkState>;
  // Of an operation, or of some together.
  explicit WorkState(std::vector<Ptr> parts = {});

  uint64_t key() const { return key_; }  // never used again in this process

  // The device calls one of them, from inside the kernel.
  void succeed(int source);
  void fail(std::exception_ptr error);

  bool succeeded() const;
  std::exception_ptr error() const;
  int source() const;  // who sent, for a receive from any rank, or -1

 private:
  const std::vector<Ptr> parts_;
  const uint64_t key_;
  mutable std::mutex mutex_;  // guards what follows
  std::exception_ptr error_;
  int source_ = -1;
  bool succeeded_ = false;
};

// When an operation started and ended. Shared by its Work and the flight recorder, not
// by the device: inside a kernel, nothing may destroy an event.
class WorkEvents {
 public:
  using Ptr = std::shared_ptr<WorkEvents>;
  enum class Stage { kScheduled, kStarted, kCompleted };

  // `timed`: duration() is measured.
  WorkEvents(c10::DeviceType type, bool timed, WorkState::Ptr state);

  // One thread enqueues the operation between the two.
  void record_start(const c10::Stream& stream);
  void record_end(const c10::Stream& stream);
  const c10::Event& end() const { return end_; }
  const WorkState& state() const { return *state_; }
  const WorkState::Ptr& shared_state() const { return state_; }

  Stage stage() const;
  bool over() const;  // nothing changes any more
  // Milliseconds, without the time in which the operation waited in its stream. Empty
  // before it has completed, and where it is not timed.
  std::optional<float> duration() const;

 private:
  const WorkState::Ptr state_;
  const bool timed_;
  c10::Event start_;
  c10::Event end_;
  // An event changes when it is recorded: other threads read it afterwards.
  std::atomic<bool> started_here_ = false;
  std::atomic<bool> ended_here_ = false;
};

// Follows torch/csrc/distributed/c10d/Work.hpp; semantics as NCCL's: wait() makes the
// current stream wait, not the host.
class OPENREG_EXPORT WorkOCCL final : public c10d::Work {
 public:
  // Everything enqueued on `stream` so far is the operation. `host_waits`: wait()
  // returns after the operation, as a barrier must. `sequence`: see
  // getSequencenumber().
  WorkOCCL(int rank, c10d::OpType type, const char* name, const c10::Stream& stream,
           WorkEvents::Ptr events, std::vector<at::Tensor> outputs, bool host_waits,
           uint64_t sequence);
  // Several operations as one. `stream` waits for them.
  static c10::intrusive_ptr<WorkOCCL> join(
      int rank, const c10::Stream& stream,
      const std::vector<c10::intrusive_ptr<WorkOCCL>>& parts);

  c10::DeviceIndex device_index() const { return events_->end().device_index(); }

  // Whether it has completed or failed. Does not wait.
  bool isCompleted() override;
  // Whether it has completed without an error.
  bool isSuccess() const override;
  // Why it failed; null if it has not.
  std::exception_ptr exception() const override;
  // Lets the calling thread's current stream of the device wait for the operation.
  void synchronize() override;
  void blockCurrentStream() override { synchronize(); }
  // The same. With a timeout, the host waits too. Throws DistBackendError if the
  // operation failed, or did not complete in time.
  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override;
  // The sender of a receive from any rank; waits for it.
  int sourceRank() const override;
  std::vector<at::Tensor> result() override { return outputs_; }
  // Milliseconds of the device. Throws before the operation has completed, and where
  // ProcessGroupOCCL::enableCollectivesTiming() was not called before it.
  float getDuration() const override;
  // Its number among the collectives of the group, from 1; 0 for a message.
  uint64_t getSequencenumber() const override { return sequence_; }
#if OPENREG_TORCH_HAS_HOOKS
  uint64_t getCompletionKey() const override { return events_->state().key(); }
#endif
  // Already complete, with an event of the stream: callbacks run at once, on streams
  // that wait for the operation.
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }

 private:
  void throw_if_failed() const;
  void wait_on_host(std::chrono::milliseconds timeout) const;

  const char* name_;
  WorkEvents::Ptr events_;
  std::vector<WorkEvents::Ptr> parts_;  // of a join
  std::vector<at::Tensor> outputs_;
  bool host_waits_;
  uint64_t sequence_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

}  // namespace openreg
