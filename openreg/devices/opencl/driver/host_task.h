// Functions of the host in a stream; see docs/opencl/driver.md.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

#include "command.h"
#include "stream.h"

namespace oclrt {

struct HostTask {
  const char* name = "";
  orKernel_t kernel = nullptr;  // one of these two
  orHostFn_t callback = nullptr;
  void* args = nullptr;
  orHostFn_t destroy = nullptr;  // may be null
  int device = 0;
  int stream = 0;  // its number
  Command done;    // a user event: the stream goes on when it is set
};

// Runs the tasks of one stream, in the order in which OpenCL reaches them.
class HostThread : public std::enable_shared_from_this<HostThread> {
 public:
  void expect();   // a task will come; starts the thread
  void give_up();  // it will not
  void push(HostTask task);
  void close();  // no further task will be expected: the thread may end

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<HostTask> tasks_;
  size_t expected_ = 0;
  bool closed_ = false;
  bool started_ = false;
};

// Enqueues the task. `destroy` is not called when this fails.
orError_t launch_host_task(orStream& stream, HostTask task);

// Inside a host kernel: the message of the fault that it is about to return. Ignored
// elsewhere.
void set_fault_words(const char* words);
bool in_host_kernel();

}  // namespace oclrt
