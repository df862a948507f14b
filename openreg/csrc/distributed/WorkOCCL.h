// One operation of a process group, in flight; see docs/modules/distributed.md.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>

#include <exception>
#include <memory>
#include <mutex>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

#include "csrc/Export.h"

namespace openreg {

// What the device returns to the host about an operation. Shared by both: the caller
// may drop its Work while the device is still busy.
class WorkState {
 public:
  using Ptr = std::shared_ptr<WorkState>;
  // Of an operation, or of some together.
  explicit WorkState(std::vector<Ptr> parts = {}) : parts_(std::move(parts)) {}
  void fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
  }
  std::exception_ptr error() const {
    for (const Ptr& part : parts_) {
      if (const std::exception_ptr error = part->error()) {
        return error;
      }
    }
    const std::lock_guard lock(mutex_);
    return error_;
  }
  void set_source(int rank) {
    const std::lock_guard lock(mutex_);
    source_ = rank;
  }
  int source() const {
    const std::lock_guard lock(mutex_);
    return source_;
  }

 private:
  const std::vector<Ptr> parts_;
  mutable std::mutex mutex_;
  std::exception_ptr error_;
  int source_ = -1;  // who sent, for a receive from any rank
};

// Follows torch/csrc/distributed/c10d/Work.hpp; semantics as NCCL's: wait() makes the
// current stream wait, not the host.
class OPENREG_EXPORT WorkOCCL final : public c10d::Work {
 public:
  // Everything enqueued on `stream` so far is the operation. `host_waits`: wait()
  // returns after the operation, as a barrier must.
  WorkOCCL(int rank, c10d::OpType type, const char* name, const c10::Stream& stream,
           WorkState::Ptr state, std::vector<at::Tensor> outputs, bool host_waits);
  // Several operations as one. `stream` waits for them.
  static c10::intrusive_ptr<WorkOCCL> join(
      int rank, const c10::Stream& stream,
      const std::vector<c10::intrusive_ptr<WorkOCCL>>& parts);

  c10::DeviceIndex device_index() const { return done_.device_index(); }

  // Whether it is over, well or not. Does not wait.
  bool isCompleted() override;
  // Whether it is over, and well.
  bool isSuccess() const override;
  // Why it failed; null if it has not.
  std::exception_ptr exception() const override;
  // Lets the calling thread's current stream of the device wait for the operation.
  void synchronize() override;
  void blockCurrentStream() override { synchronize(); }
  // The same. With a timeout, the host waits too. Throws DistBackendError if the
  // operation failed, or is not over in time.
  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override;
  // Who sent; waits for it. Only a receive from any rank has it.
  int sourceRank() const override;
  std::vector<at::Tensor> result() override { return outputs_; }
  // Already complete, with an event of the stream: callbacks run at once, on streams
  // that wait for the operation.
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }

 private:
  void throw_if_failed() const;
  void wait_on_host(std::chrono::milliseconds timeout) const;

  const char* name_;
  c10::Event done_;
  WorkState::Ptr state_;
  std::vector<at::Tensor> outputs_;
  bool host_waits_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

}  // namespace openreg
