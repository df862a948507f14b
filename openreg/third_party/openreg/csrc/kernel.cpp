// Kernels and host callbacks: launching them. See docs/start/architecture.md.
#include "kernel.h"

#include <cstdio>
#include <utility>

#include "call.h"
#include "ipc.h"
#include "memory.h"
#include "simulator.h"
#include "stream.h"

namespace openreg::driver {
namespace {

// Plain bytes: neither kernels nor the end of a thread have to free anything.
thread_local char words[512] = "";

}  // namespace

const char* faultWords() { return words; }

void clearFaultWords() { words[0] = '\0'; }

}  // namespace openreg::driver

using namespace openreg::driver;

orError_t orLaunchKernel(const char* name, orKernel_t kernel, void* args,
                         orHostFn_t destroy, orStream_t stream) {
  return call<kStart | kRecorded>(__func__, [&]() -> orError_t {
    if (name == nullptr) return fail(orErrorInvalidValue, "name is null");
    if (kernel == nullptr) return fail(orErrorInvalidValue, "kernel is null");
    auto target = findStream(stream);
    if (!target) return failStream(stream);
    // A capture launches nothing: the launches of its graph count, see graph.cpp.
    const bool broken = simulatorActs() &&
                        !target->capturing.load(std::memory_order_acquire) &&
                        takeKernelFailure(name);
    Task task(std::in_place_type<Kernel>, name, broken ? failOnPurpose : kernel, args,
              destroy);
    // When the launch fails the arguments stay the caller's. When it succeeds the task
    // has been moved away and there is nothing left to disarm.
    struct Disarm {
      Task& task;
      ~Disarm() { std::get<Kernel>(task).destroy = nullptr; }
    } disarm{task};
    return target->enqueue(std::move(task));
  });
}

orError_t orLaunchHostFunc(orStream_t stream, orHostFn_t fn, void* args) {
  return call<kStart | kRecorded>(__func__, [&]() -> orError_t {
    if (fn == nullptr) return fail(orErrorInvalidValue, "fn is null");
    auto target = findStream(stream);
    if (!target) return failStream(stream);
    return target->enqueue(HostCall{fn, args});
  });
}

void* orKernelAddress(const void* ptr) {
  if (thread.activity != Activity::kKernel || !inReservation(ptr)) return nullptr;
  // Addresses behind the memory of this process are valid only while they are open.
  if (!isOwn(ptr) && importedAttributes(ptr).type != orMemoryTypeDevice) return nullptr;
  return deviceSide(ptr);
}

void orKernelFault(const char* message) {
  if (thread.activity != Activity::kKernel || message == nullptr) return;
  std::snprintf(words, sizeof words, "%s", message);
}
