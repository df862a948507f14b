// Graphs: captured tasks that can be run many times. See docs/start/architecture.md.
#include "graph.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "call.h"
#include "device.h"
#include "event.h"
#include "openreg_graph.h"
#include "simulator.h"
#include "stream.h"

namespace openreg::driver {
namespace {

// Graph, executable and pending launches share the tasks: they may go in any order.
using Nodes = std::shared_ptr<const std::vector<Node>>;

struct Graph {
  using Handle = orGraph_t;
  static constexpr uint64_t kTag = 0x53;
  explicit Graph(Nodes nodes) : nodes(std::move(nodes)) {}
  const Nodes nodes;
};

// The devices of the tasks, also of those in graphs inside.
void addDevices(const std::vector<Node>& nodes, std::set<Device*>& devices) {
  for (const Node& node : nodes) {
    devices.insert(node.device);
    if (auto* graph = std::get_if<GraphRun>(&node.task)) {
      addDevices(*graph->nodes, devices);
    }
  }
}

struct GraphExec {
  using Handle = orGraphExec_t;
  static constexpr uint64_t kTag = 0x54;
  explicit GraphExec(Nodes nodes) : nodes(std::move(nodes)) {
    addDevices(*this->nodes, devices);
  }
  const Nodes nodes;
  std::set<Device*> devices;  // whose memory a launch uses
  std::mutex mutex;
  std::shared_ptr<Mark> lastLaunch;
};

orError_t failGraph(const void* handle, const char* kind) {
  return fail(orErrorInvalidResourceHandle,
              "%p is not a live %s: it was destroyed already, or never created", handle,
              kind);
}

// The caption of a task.
struct Caption {
  std::string operator()(const Kernel& kernel) const { return kernel.name; }
  std::string operator()(const Copy& copy) const {
    return "copy " + std::to_string(copy.count) + " bytes";
  }
  std::string operator()(const Fill& fill) const {
    return "fill " + std::to_string(fill.count) + " bytes";
  }
  std::string operator()(const HostCall&) const { return "host callback"; }
  std::string operator()(const GraphRun& graph) const {
    return "graph of " + std::to_string(graph.nodes->size()) + " tasks";
  }
  // A capture contains no other tasks: marks and waits became the order of the list.
  std::string operator()(const auto&) const { return "nothing"; }
};

// Names of kernels come from callers.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string toDot(const std::vector<Node>& nodes) {
  std::string text = "digraph openreg {\n  node [shape=box];\n";
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    const std::string name = "task" + std::to_string(i);
    text += "  " + name + " [label=" + quoted(std::visit(Caption{}, node.task)) +
            ", xlabel=\"device " + std::to_string(node.device->index()) + ", stream " +
            std::to_string(node.stream) + "\"];\n";
    if (i > 0) text += "  task" + std::to_string(i - 1) + " -> " + name + ";\n";
  }
  return text + "}\n";
}

// The first kernel of a graph's run, also of graphs inside, whose failure is ordered.
const Kernel* takeFailing(const std::vector<Node>& nodes) {
  for (const Node& node : nodes) {
    if (auto* kernel = std::get_if<Kernel>(&node.task)) {
      if (takeKernelFailure(kernel->name)) return kernel;
    } else if (auto* graph = std::get_if<GraphRun>(&node.task)) {
      if (const Kernel* inner = takeFailing(*graph->nodes)) return inner;
    }
  }
  return nullptr;
}

}  // namespace

orError_t createGraph(std::vector<Node> nodes, orGraph_t* graph) {
  orGraph_t handle = nullptr;
  auto shared = std::make_shared<const std::vector<Node>>(std::move(nodes));
  if (!table<Graph>.create(&handle, std::move(shared))) {
    return fail(orErrorMemoryAllocation,
                "there are too many live graphs: destroy some");
  }
  *graph = handle;
  return orSuccess;
}

}  // namespace openreg::driver

using namespace openreg::driver;

orError_t orGraphGetNodeCount(orGraph_t graph, size_t* count) {
  return call(__func__, [&]() -> orError_t {
    if (count == nullptr) return fail(orErrorInvalidValue, "count is null");
    auto target = table<Graph>.find(graph);
    if (!target) return failGraph(graph, "graph");
    *count = target->nodes->size();
    return orSuccess;
  });
}

orError_t orGraphInstantiate(orGraphExec_t* exec, orGraph_t graph) {
  return call(__func__, [&]() -> orError_t {
    if (exec == nullptr) return fail(orErrorInvalidValue, "exec is null");
    auto target = table<Graph>.find(graph);
    if (!target) return failGraph(graph, "graph");
    orGraphExec_t handle = nullptr;
    if (!table<GraphExec>.create(&handle, target->nodes)) {
      return fail(orErrorMemoryAllocation,
                  "there are too many live executable graphs: destroy some");
    }
    *exec = handle;
    return orSuccess;
  });
}

orError_t orGraphLaunch(orGraphExec_t exec, orStream_t stream) {
  return call<kStart | kRecorded>(__func__, [&]() -> orError_t {
    auto target = table<GraphExec>.find(exec);
    if (!target) return failGraph(exec, "executable graph");
    auto source = findStream(stream);
    if (!source) return failStream(stream);
    if (source->capturing.load(std::memory_order_acquire)) {
      return source->enqueue(GraphRun{target->nodes});
    }
    // A graph has one set of arguments and of intermediate results: its launches run
    // one after the other, also those on different streams.
    std::lock_guard lock(target->mutex);
    auto& last = target->lastLaunch;
    if (last && last->stream.get() != source.get() && !last->done()) {
      if (orError_t error = source->enqueue(Wait{last})) return error;
    }
    auto mark = std::make_shared<Mark>();
    mark->stream = source;
    GraphRun run{target->nodes};
    if (simulatorActs()) run.failing = takeFailing(*run.nodes);
    if (orError_t error = source->enqueue(std::move(run), &mark->position)) {
      return error;
    }
    for (Device* device : target->devices) {
      if (device != &source->device()) device->addGraphLaunch(mark);
    }
    last = std::move(mark);
    return orSuccess;
  });
}

orError_t orGraphDestroy(orGraph_t graph) {
  return call(__func__, [&]() -> orError_t {
    if (!table<Graph>.remove(graph)) return failGraph(graph, "graph");
    return orSuccess;
  });
}

orError_t orGraphExecDestroy(orGraphExec_t exec) {
  return call(__func__, [&]() -> orError_t {
    if (!table<GraphExec>.remove(exec)) return failGraph(exec, "executable graph");
    return orSuccess;
  });
}

orError_t orGraphDebugDotPrint(orGraph_t graph, const char* path) {
  return call(__func__, [&]() -> orError_t {
    if (path == nullptr) return fail(orErrorInvalidValue, "path is null");
    auto target = table<Graph>.find(graph);
    if (!target) return failGraph(graph, "graph");
    const std::string text = toDot(*target->nodes);
    std::FILE* file = std::fopen(path, "w");
    bool written = file != nullptr && std::fputs(text.c_str(), file) >= 0;
    if (file != nullptr && std::fclose(file) != 0) written = false;
    if (written) return orSuccess;
    return fail(orErrorInvalidValue, "cannot write '%s': %s", path,
                std::strerror(errno));
  });
}
