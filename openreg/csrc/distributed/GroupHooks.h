// Callbacks after operations of a group, for torch's own tools; see
// docs/modules/distributed-debugging.md.
#pragma once

#include <torch/headeronly/version.h>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

// From torch 2.15 on, its flight recorder and its health check register hooks.
#define OPENREG_TORCH_HAS_HOOKS (TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 15)

namespace openreg {

class GroupHooks {
 public:
  using OnCompletion = std::function<void(uint64_t key)>;  // must not take the GIL
  using OnFailure = std::function<void()>;

  void set(int64_t id, OnCompletion hook);
  void set(int64_t id, OnFailure hook);
  void erase_on_completion(int64_t id);
  void erase_on_failure(int64_t id);

  // Both are called inside a kernel.
  void completed(uint64_t key) const;
  // Runs the hooks once, in a thread: they may take the GIL, which another thread may
  // hold while it waits for the device.
  void failed();
  // Waits for that thread. Then failed() does nothing.
  void close();

 private:
  mutable std::mutex mutex_;  // guards what follows; not held while a hook runs
  std::map<int64_t, OnCompletion> on_completion_;
  std::map<int64_t, OnFailure> on_failure_;
  std::thread thread_;
  bool over_ = false;
};

}  // namespace openreg
