// A task: how each kind is run. See docs/start/architecture.md.
#include "task.h"

#include <chrono>
#include <cstring>

#include "call.h"
#include "device.h"
#include "event.h"
#include "kernel.h"
#include "stream.h"

namespace openreg {
namespace {

struct Runner {
  Device& device;
  int stream;

  void operator()(std::monostate) const {}

  void operator()(const Kernel& kernel) const {
    TaskScope scope(Activity::kKernel, device.index());
    clearFaultWords();
    if (orError_t error = kernel.run(kernel.args)) {
      device.raiseFault(error, kernel.name, stream, faultWords());
    }
  }

  void operator()(const HostCall& call) const {
    TaskScope scope(Activity::kCallback, device.index());
    call.run(call.args);
  }

  // memmove: source and destination may overlap within one allocation.
  void operator()(const Copy& copy) const {
    std::memmove(copy.dst, copy.src, copy.count);
  }

  void operator()(const Fill& fill) const {
    std::memset(fill.ptr, fill.value, fill.count);
  }

  void operator()(const Stamp& stamp) const {
    stamp.mark->time.store(std::chrono::steady_clock::now().time_since_epoch().count(),
                           std::memory_order_release);
  }

  void operator()(const Wait& wait) const {
    wait.mark->stream->wait(wait.mark->position);
  }

  void operator()(const GraphRun& graph) const {
    for (const Node& node : *graph.nodes) runTask(node.task, *node.device, stream);
  }
};

}  // namespace

Kernel::~Kernel() {
  if (destroy == nullptr) return;
  TaskScope scope(Activity::kCallback, thread.device);
  destroy(args);
}

// Kernels must not throw: there is nobody to catch, and noexcept makes the program end
// with the exception's message instead of leaving a lock held.
void runTask(const Task& task, Device& device, int stream) noexcept {
  // Time stamps are taken also behind a fault: elapsed times stay defined.
  if (device.faulted() && !std::holds_alternative<Stamp>(task)) return;
  std::visit(Runner{device, stream}, task);
}

}  // namespace openreg
