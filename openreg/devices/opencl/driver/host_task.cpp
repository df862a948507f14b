// Runs functions of the host in stream order; see docs/opencl/driver.md.
#include "host_task.h"

#include <string>
#include <thread>

#include "process.h"

namespace oclrt {
namespace {

thread_local bool in_kernel = false;
thread_local std::string fault_words;

void run_task(const HostTask& task) {
  thread.device = task.device;
  thread.in_task = true;
  // A device with a fault drops its tasks.
  if (device_at(task.device).fault_code == orSuccess) {
    if (task.callback != nullptr) {
      task.callback(task.args);
    } else {
      fault_words.clear();
      in_kernel = true;
      const orError_t error = task.kernel(task.args);
      in_kernel = false;
      if (error != orSuccess) {
        std::string words = "kernel '" + std::string(task.name) + "' on stream " +
                            std::to_string(task.stream) + " failed with " +
                            orGetErrorName(error);
        if (!fault_words.empty()) words += ": " + fault_words;
        set_fault(task.device, error, words);
      }
    }
  }
  if (task.destroy != nullptr) task.destroy(task.args);
  thread.in_task = false;
  static_cast<void>(clSetUserEventStatus(task.done.get(), CL_COMPLETE));
}

// The argument of an OpenCL callback: the destination of the task, and the task.
struct Delivery {
  std::shared_ptr<HostThread> to;
  HostTask task;
};

void CL_CALLBACK deliver(cl_event, cl_int, void* data) {
  const std::unique_ptr<Delivery> delivery(static_cast<Delivery*>(data));
  delivery->to->push(std::move(delivery->task));
}

}  // namespace

void HostThread::expect() {
  const std::lock_guard lock(mutex_);
  if (!started_) std::thread([self = shared_from_this()] { self->run(); }).detach();
  started_ = true;
  ++expected_;
}

void HostThread::give_up() {
  const std::lock_guard lock(mutex_);
  --expected_;
  changed_.notify_one();
}

void HostThread::push(HostTask task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  changed_.notify_one();
}

void HostThread::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_one();
}

void HostThread::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock,
                  [this] { return !tasks_.empty() || (closed_ && expected_ == 0); });
    if (tasks_.empty()) {
      started_ = false;  // a launch that was under way would start it again
      return;
    }
    const HostTask task = std::move(tasks_.front());
    tasks_.pop_front();
    --expected_;
    lock.unlock();
    run_task(task);
    lock.lock();
  }
}

// OpenCL: only a CPU runs a function of the host in a queue (clEnqueueNativeKernel),
// and a callback of an event may neither wait nor be waited for. Instead, the callback
// of a marker hands the function to a thread of the stream, and the queue waits behind
// the marker for a user event, which that thread sets.
orError_t launch_host_task(orStream& stream, HostTask task) {
  if (orError_t error = fault_of(stream.device)) return error;
  task.device = stream.device;
  task.stream = stream.number;
  cl_int status = CL_SUCCESS;
  task.done = Command(clCreateUserEvent(platform().context, &status));
  if (status != CL_SUCCESS) return fail_cl("clCreateUserEvent", status);
  const cl_event done = task.done.get();
  // LITERALINCLUDE START: HOST_TASK
  auto delivery = std::make_unique<Delivery>(Delivery{nullptr, std::move(task)});
  return enqueue(
      stream, "a function of the host", [&](cl_command_queue queue, cl_event* event) {
        if (stream.host == nullptr) stream.host = std::make_shared<HostThread>();
        delivery->to = stream.host;
        cl_event reached = nullptr;
        status = clEnqueueMarkerWithWaitList(queue, 0, nullptr, &reached);
        if (status != CL_SUCCESS) return status;
        const Command marker(reached);
        status = clEnqueueBarrierWithWaitList(queue, 1, &done, event);
        if (status != CL_SUCCESS) return status;
        stream.host->expect();
        status = clSetEventCallback(reached, CL_COMPLETE, deliver, delivery.get());
        if (status == CL_SUCCESS) {
          delivery.release();
        } else {  // the barrier must not wait forever
          stream.host->give_up();
          static_cast<void>(clSetUserEventStatus(done, CL_COMPLETE));
        }
        return status;
      });
  // LITERALINCLUDE END: HOST_TASK
}

void set_fault_words(const char* words) {
  if (in_kernel && words != nullptr) fault_words = words;
}

bool in_host_kernel() { return in_kernel; }

}  // namespace oclrt

using namespace oclrt;

orError_t orLaunchHostFunc(orStream_t handle, orHostFn_t fn, void* args) {
  return call(__func__, kStart, [&] {
    if (fn == nullptr) return fail(orErrorInvalidValue, "fn is null");
    Stream stream;
    if (orError_t error = find_stream(handle, &stream)) return error;
    HostTask task;
    task.name = "host callback";
    task.callback = fn;
    task.args = args;
    return launch_host_task(*stream, std::move(task));
  });
}
