// A task: how each kind is run. See docs/start/architecture.md.
#include "task.h"

#include <chrono>
#include <cstring>

#include "call.h"
#include "device.h"
#include "event.h"
#include "kernel.h"
#include "memory.h"
#include "simulator.h"
#include "stream.h"

namespace openreg::driver {
namespace {

struct Runner {
  Device& device;
  Origin origin;

  void operator()(std::monostate) const {}

  void operator()(const Kernel& kernel) const {
    TaskScope scope(Activity::kKernel, device.index());
    clearFaultWords();
    const orKernel_t run = &kernel == origin.failing ? failOnPurpose : kernel.run;
    if (orError_t error = run(kernel.args)) {
      device.raiseFault(error, kernel.name, origin.stream, faultWords());
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
    Origin inner = origin;
    if (graph.failing != nullptr) inner.failing = graph.failing;
    for (const Node& node : *graph.nodes) runTask(node.task, *node.device, inner);
  }
};

orMemoryType typeOf(const void* address) {
  auto* onHost = static_cast<const std::byte*>(address) - reservation.shift;
  return inReservation(onHost) ? orMemoryTypeDevice : attributesOf(address).type;
}

const char* copyName(const Copy& copy) {
  static constexpr const char* kNames[3][3] = {
      {"Memcpy HtoH (Pageable -> Pageable)", "Memcpy HtoH (Pageable -> Pinned)",
       "Memcpy HtoD (Pageable -> Device)"},
      {"Memcpy HtoH (Pinned -> Pageable)", "Memcpy HtoH (Pinned -> Pinned)",
       "Memcpy HtoD (Pinned -> Device)"},
      {"Memcpy DtoH (Device -> Pageable)", "Memcpy DtoH (Device -> Pinned)",
       "Memcpy DtoD (Device -> Device)"}};
  return kNames[typeOf(copy.src)][typeOf(copy.dst)];
}

// What is recorded of a task; no name: nothing. The runs of a graph's nodes are
// recorded, not the run of the graph.
struct Describe {
  Origin origin;

  orActivity operator()(const Kernel& kernel) const {
    return describe(orActivityKernel, kernel.name, 0);
  }
  orActivity operator()(const Copy& copy) const {
    return describe(orActivityMemcpy, copyName(copy), copy.count);
  }
  orActivity operator()(const Fill& fill) const {
    return describe(orActivityMemset, "Memset (Device)", fill.count);
  }
  template <class Other>
  orActivity operator()(const Other&) const {
    return {};
  }

  orActivity describe(orActivityKind kind, const char* name, size_t bytes) const {
    return {kind, name, origin.correlation, 0, 0, origin.device, origin.stream, bytes};
  }
};

}  // namespace

Kernel::~Kernel() {
  if (destroy == nullptr) return;
  TaskScope scope(Activity::kCallback, thread.device);
  destroy(args);
}

// Kernels must not throw. No caller would catch the exception, and noexcept ends the
// program with its message instead of leaving a lock held.
void runTask(const Task& task, Device& device, Origin origin) noexcept {
  // Time stamps are taken also behind a fault: elapsed times stay defined.
  if (device.faulted() && !std::holds_alternative<Stamp>(task)) return;
  const Runner run{device, origin};
  if (origin.correlation == 0) [[likely]]
    return std::visit(run, task);
  auto record = std::visit(Describe{origin}, task);
  if (record.name == nullptr) return std::visit(run, task);
  record.begin = activityTime();
  std::visit(run, task);
  record.end = activityTime();
  deliver(record);
}

}  // namespace openreg::driver
