// torch.accelerator.Graph: captured work that can be replayed; see
// docs/modules/graphs.md.
#pragma once

#include <ATen/core/GraphImplInterface.h>
#include <openreg.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "csrc/Export.h"
#include "csrc/runtime/graph/OpenRegCapture.h"

namespace openreg {

// Follows ATen/core/GraphImplInterface.h. Thread-safe. However, a stream is current for
// one thread only, so the same thread must begin and end the capture.
class OPENREG_EXPORT OpenRegGraph final : public at::GraphImplInterface {
 public:
  explicit OpenRegGraph(const at::GraphImplArgs& args) : keep_(args.keep_graph) {}
  ~OpenRegGraph() override;

  void capture_begin(c10::MempoolId_t pool, at::GraphCaptureMode mode) override;
  void capture_end() override;
  void instantiate() override;
  void replay() override;
  void reset() override;
  c10::MempoolId_t pool() const override;
  void enable_debug_mode() override;
  void debug_dump(const std::string& path) override;

 private:
  void begin_pools(const std::shared_ptr<Capture>& capture);
  void end_pools();
  std::string end_capture();  // why there is no graph; empty if there is one
  void make_executable();
  void write_rng_states(const c10::Stream& stream);
  void release(std::unique_lock<std::mutex> lock);
  void check_captured(const char* call) const;

  const bool keep_;     // the tasks, although the executable graph has them
  bool debug_ = false;  // the same, for debug_dump()
  mutable std::mutex mutex_;
  std::optional<c10::Stream> stream_;  // on which the capture began
  std::shared_ptr<Capture> capture_;   // while it goes on
  c10::MempoolId_t pool_{0, 0};
  bool shared_pool_ = false;  // the caller chose it
  // What a capture leaves behind:
  bool captured_ = false;
  orGraph_t graph_ = nullptr;     // the tasks
  orGraphExec_t exec_ = nullptr;  // what can be launched
  orEvent_t replayed_ = nullptr;  // behind the last replay, if there are draws
  CapturedRngStates draws_;
};

}  // namespace openreg
