// A communicator, and how calls of the library are entered; see
// docs/modules/distributed.md.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "call.h"
#include "handle.h"
#include "occl.h"
#include "occl_failure.h"
#include "occl_operation.h"
#include "occl_rendezvous.h"

namespace openreg::occl {

class Comm {
 public:
  using Handle = occlComm_t;
  static constexpr uint64_t kTag = 0x55;

  // Waits for the other ranks. Throws Failure.
  Comm(int size, const SharedFile& shared, int rank, const occlConfig_t& config);
  ~Comm();

  const int rank;
  const int size;
  const int device;
  const Milliseconds timeout;
  std::mutex order;          // of the callers that enqueue
  uint64_t collectives = 0;  // enqueued so far; guarded by `order`

  bool shares_memory() const { return memory_ != nullptr; }
  // Inside a kernel, or on the host for a barrier. Throws Failure.
  void run(Operation& operation);
  void abort() noexcept;
  bool aborted() const { return aborted_; }

  void set_error(occlResult_t result, const std::string& text);
  occlResult_t error(std::string* text) const;

 private:
  bool agree_to_share(bool mine) const;
  void run_now(Operation& operation);

  std::unique_ptr<SharedMemoryRendezvous> memory_;  // null: the plug-in carries all
  std::optional<occlNet_t> net_;
  std::mutex net_mutex_;  // of collectives over the plug-in
  std::atomic<bool> aborted_ = false;
  mutable std::mutex error_mutex_;
  occlResult_t error_ = occlSuccess;
  std::string error_text_;
};

// The live communicator of a handle; throws Failure.
driver::Ref<Comm> find_comm(occlComm_t handle);

// Keeps the text for occlGetLastError(NULL).
occlResult_t refuse(const char* function, occlResult_t result,
                    const char* text) noexcept;

// Runs the body of API function `function`. No exception leaves the C interface.
template <class Body>
occlResult_t caught(const char* function, Body&& body) noexcept {
  try {
    body();
    return occlSuccess;
  } catch (const Failure& failure) {
    return refuse(function, failure.result, failure.what());
  } catch (const std::exception& failure) {
    return refuse(function, occlSystemError, failure.what());
  }
}

// The same, for a function that needs the driver: starts it.
template <class Body>
occlResult_t enter(const char* function, Body&& body) noexcept {
  occlResult_t result = occlSuccess;
  const orError_t error = driver::call<driver::kStart>(function, [&] {
    result = caught(function, body);
    return orSuccess;
  });
  return error == orSuccess ? result
                            : refuse(function, occlUnhandledError, orGetErrorDetail());
}

template <class T>
void require_pointer(T* pointer, const char* name) {
  if (pointer == nullptr) {
    throw Failure(occlInvalidArgument, joined(name, " is null"));
  }
}

}  // namespace openreg::occl
