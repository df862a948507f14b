// Counts the driver's events that exist; see docs/runtime/event.md.
//
// Preloaded: the backend finds these functions before those of the driver.
#include <dlfcn.h>
#include <openreg.h>

#include <atomic>

namespace {
std::atomic<int> live = 0;

// Of the driver, which Python has loaded where RTLD_NEXT does not look.
template <class Function>
Function original(const char* name) {
  void* driver = dlopen("libopenreg.so", RTLD_LAZY | RTLD_NOLOAD);
  return reinterpret_cast<Function>(dlsym(driver, name));
}
}  // namespace

extern "C" int live_events() { return live; }

extern "C" orError_t orEventCreateWithFlags(orEvent_t* event, unsigned int flags) {
  const auto create = original<decltype(&orEventCreateWithFlags)>(__func__);
  const orError_t error = create(event, flags);
  live += error == orSuccess;
  return error;
}

extern "C" orError_t orEventDestroy(orEvent_t event) {
  live -= event != nullptr;
  return original<decltype(&orEventDestroy)>(__func__)(event);
}
