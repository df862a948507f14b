// A task: one thing a stream does. See docs/start/architecture.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "activity.h"
#include "openreg.h"

namespace openreg::driver {

class Device;
struct Node;
struct Mark;

// Kernel::args belong to the task: `destroy` runs when the task is destroyed.
struct Kernel {
  const char* name = "";
  orKernel_t run = nullptr;
  void* args = nullptr;
  orHostFn_t destroy = nullptr;

  Kernel(const char* name, orKernel_t run, void* args, orHostFn_t destroy)
      : name(name), run(run), args(args), destroy(destroy) {}
  Kernel(Kernel&& other) noexcept
      : name(other.name),
        run(other.run),
        args(other.args),
        destroy(std::exchange(other.destroy, nullptr)) {}
  Kernel& operator=(Kernel&& other) noexcept {
    std::swap(name, other.name);
    std::swap(run, other.run);
    std::swap(args, other.args);
    std::swap(destroy, other.destroy);
    return *this;
  }
  ~Kernel();
};

struct HostCall {
  orHostFn_t run;
  void* args;
};

// Addresses of copies and fills are those of the device side.
struct Copy {
  void* dst;
  const void* src;
  size_t count;
  std::unique_ptr<std::byte[]>
      staged;  // owns the source of a copy from pageable memory
};

struct Fill {
  void* ptr;
  int value;
  size_t count;
};

// Writes the time into a mark.
struct Stamp {
  std::shared_ptr<Mark> mark;
};

// Blocks the stream until a mark has completed.
struct Wait {
  std::shared_ptr<Mark> mark;
};

// Runs the tasks of a graph. `failing` fails on purpose, in this run only.
struct GraphRun {
  std::shared_ptr<const std::vector<Node>> nodes;
  const Kernel* failing = nullptr;
};

using Task =
    std::variant<std::monostate, Kernel, HostCall, Copy, Fill, Stamp, Wait, GraphRun>;

// A task of a graph, and the device and number of the stream it was captured from.
struct Node {
  Task task;
  Device* device = nullptr;
  int stream = 0;
};

// Runs the task, or drops it when the device has a fault.
void runTask(const Task& task, Device& device, Origin origin) noexcept;

}  // namespace openreg::driver
