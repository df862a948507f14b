// Callbacks after operations of a group, for torch's own tools; see
// docs/modules/distributed-debugging.md.
#include "csrc/distributed/GroupHooks.h"

#include <c10/util/Logging.h>

#include <utility>

namespace openreg {

void GroupHooks::set(int64_t id, OnCompletion hook) {
  const std::lock_guard lock(mutex_);
  on_completion_[id] = std::move(hook);
}

void GroupHooks::set(int64_t id, OnFailure hook) {
  const std::lock_guard lock(mutex_);
  on_failure_[id] = std::move(hook);
}

void GroupHooks::erase_on_completion(int64_t id) {
  const std::lock_guard lock(mutex_);
  on_completion_.erase(id);
}

void GroupHooks::erase_on_failure(int64_t id) {
  const std::lock_guard lock(mutex_);
  on_failure_.erase(id);
}

void GroupHooks::completed(uint64_t key) const {
  const auto hooks = [this] {
    const std::lock_guard lock(mutex_);
    return on_completion_;
  }();
  for (const auto& [id, hook] : hooks) {
    hook(key);
  }
}

void GroupHooks::failed() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(over_, true) || on_failure_.empty()) {
    return;
  }
  thread_ = std::thread([hooks = on_failure_] {
    for (const auto& [id, hook] : hooks) {
      try {
        hook();
      } catch (const std::exception& error) {
        LOG(ERROR) << "openreg: a hook of a process group failed: " << error.what();
      }
    }
  });
}

void GroupHooks::close() {
  std::thread thread;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    thread.swap(thread_);
  }
  if (thread.joinable()) {
    thread.join();
  }
}

}  // namespace openreg
