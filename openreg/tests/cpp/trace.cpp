// Logs which member of guard and hooks torch calls, and how; see docs/runtime/guard.md.
//
// torch.ops.openreg_trace.start() puts a layer that writes a log before our guard and
// our hooks, take() returns the log and empties it, stop() removes the layer. A line of
// the log is "Guard.getDevice gil python": the member, whether the calling thread held
// Python's global lock (gil or -), and the name of that thread.
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <Python.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <pthread.h>
#include <torch/library.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

namespace {

using c10::Device;
using c10::DeviceIndex;
using c10::Stream;

std::mutex mutex;
std::vector<std::string> lines;
std::atomic<bool> logging = false;
std::string failing;  // the member that throws instead of doing its work

void log(const char* object, const char* member) {
  if (!logging) {
    return;
  }
  char thread[16] = "";
  pthread_getname_np(pthread_self(), thread, sizeof thread);
  const char* lock = Py_IsInitialized() && PyGILState_Check() ? "gil" : "-";
  const std::lock_guard guard(mutex);
  lines.push_back(c10::str(object, ".", member, " ", lock, " ", thread));
  TORCH_CHECK(c10::str(object, ".", member) != failing, failing, " fails on purpose");
}

const c10::impl::DeviceGuardImplInterface* inner_guard = nullptr;

#define GUARD(MEMBER, ...) \
  log("Guard", #MEMBER);   \
  return inner_guard->MEMBER(__VA_ARGS__)

struct TraceGuard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { GUARD(type); }
  Device getDevice() const override { GUARD(getDevice); }
  void setDevice(Device d) const override { GUARD(setDevice, d); }
  Device exchangeDevice(Device d) const override { GUARD(exchangeDevice, d); }
  void uncheckedSetDevice(Device d) const noexcept override {
    GUARD(uncheckedSetDevice, d);
  }
  DeviceIndex deviceCount() const noexcept override { GUARD(deviceCount); }
  c10::DeviceCapability getDeviceCapability(Device d) const override {
    GUARD(getDeviceCapability, d);
  }
  void synchronizeDevice(DeviceIndex d) const override { GUARD(synchronizeDevice, d); }
  Stream getStream(Device d) const override { GUARD(getStream, d); }
  Stream getDefaultStream(Device d) const override { GUARD(getDefaultStream, d); }
  Stream getStreamFromGlobalPool(Device d, bool high) const override {
    GUARD(getStreamFromGlobalPool, d, high);
  }
  Stream getNewStream(Device d, int priority) const override {
    GUARD(getNewStream, d, priority);
  }
  Stream exchangeStream(Stream s) const override { GUARD(exchangeStream, s); }
  void* getStreamNativeHandle(Stream s) const override {
    GUARD(getStreamNativeHandle, s);
  }
  bool queryStream(const Stream& s) const override { GUARD(queryStream, s); }
  void synchronizeStream(const Stream& s) const override {
    GUARD(synchronizeStream, s);
  }
  bool isStreamCapturing(const Stream& s) const override {
    GUARD(isStreamCapturing, s);
  }
  void recordDataPtrOnStream(const c10::DataPtr& p, const Stream& s) const override {
    GUARD(recordDataPtrOnStream, p, s);
  }
  void record(void** e, const Stream& s, DeviceIndex d,
              c10::EventFlag flag) const override {
    GUARD(record, e, s, d, flag);
  }
  void block(void* e, const Stream& s) const override { GUARD(block, e, s); }
  bool queryEvent(void* e) const override { GUARD(queryEvent, e); }
  void synchronizeEvent(void* e) const override { GUARD(synchronizeEvent, e); }
  double elapsedTime(void* a, void* b, DeviceIndex d) const override {
    GUARD(elapsedTime, a, b, d);
  }
  void destroyEvent(void* e, DeviceIndex d) const noexcept override {
    GUARD(destroyEvent, e, d);
  }
};

// An object of ours with the table of virtual members that OpenRegHooks has.
struct Hooks {
  void* table = nullptr;
} inner_table;
const at::PrivateUse1HooksInterface& inner_hooks() {
  return *reinterpret_cast<const at::PrivateUse1HooksInterface*>(&inner_table);
}

#define HOOKS(MEMBER, ...) \
  log("Hooks", #MEMBER);   \
  return inner_hooks().MEMBER(__VA_ARGS__)

struct TraceHooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { HOOKS(isBuilt); }
  bool isAvailable() const override { HOOKS(isAvailable); }
  bool hasPrimaryContext(DeviceIndex d) const override { HOOKS(hasPrimaryContext, d); }
  void init() const override { HOOKS(init); }
  DeviceIndex deviceCount() const override { HOOKS(deviceCount); }
  void setCurrentDevice(DeviceIndex d) const override { HOOKS(setCurrentDevice, d); }
  DeviceIndex getCurrentDevice() const override { HOOKS(getCurrentDevice); }
  DeviceIndex exchangeDevice(DeviceIndex d) const override { HOOKS(exchangeDevice, d); }
  DeviceIndex maybeExchangeDevice(DeviceIndex d) const override {
    HOOKS(maybeExchangeDevice, d);
  }
  bool isPinnedPtr(const void* data) const override { HOOKS(isPinnedPtr, data); }
  at::Allocator* getPinnedMemoryAllocator() const override {
    HOOKS(getPinnedMemoryAllocator);
  }
  Device getDeviceFromPtr(void* data) const override { HOOKS(getDeviceFromPtr, data); }
  const at::Generator& getDefaultGenerator(DeviceIndex d) const override {
    HOOKS(getDefaultGenerator, d);
  }
  at::Generator getNewGenerator(DeviceIndex d) const override {
    HOOKS(getNewGenerator, d);
  }
  void resizePrivateUse1Bytes(const c10::Storage& s, size_t bytes) const override {
    HOOKS(resizePrivateUse1Bytes, s, bytes);
  }
};

auto& guard_entry() {
  return c10::impl::device_guard_impl_registry[static_cast<size_t>(at::kPrivateUse1)];
}

// Torch takes one hooks object, once per process. Neither it nor ours holds data, so
// the layer exchanges the pointer to the table of virtual members that begins the
// object.
void*& hooks_table() {
  auto& hooks = at::detail::getPrivateUse1Hooks();
  return *reinterpret_cast<void**>(const_cast<at::PrivateUse1HooksInterface*>(&hooks));
}

// The layer stays: events hold the guard that was registered when they were made.
void install() {
  static const TraceGuard guard;
  static TraceHooks hooks;
  inner_guard = guard_entry().load();
  guard_entry() = &guard;
  inner_table.table = hooks_table();
  hooks_table() = *reinterpret_cast<void**>(&hooks);
}

void start() {
  static const bool once = (install(), true);
  static_cast<void>(once);
  logging = true;
}

void stop() { logging = false; }

void fail(std::string member) { failing = std::move(member); }

std::vector<std::string> take() {
  const std::lock_guard guard(mutex);
  return std::exchange(lines, {});
}

}  // namespace

TORCH_LIBRARY(openreg_trace, m) {
  m.def("start() -> ()", &start);
  m.def("stop() -> ()", &stop);
  m.def("take() -> str[]", &take);
  m.def("fail(str member) -> ()", &fail);
}
