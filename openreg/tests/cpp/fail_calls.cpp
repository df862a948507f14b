// Lets calls of the driver fail that hardly ever do; see
// docs/modules/symmetric-memory.md.
//
// Preloaded: the backend finds these functions before those of the driver.
#include <dlfcn.h>
#include <occl.h>
#include <openreg.h>

#include <cstdlib>

namespace {

// Of the driver, which Python has loaded where RTLD_NEXT does not look.
template <class Function>
Function original(const char* name) {
  void* driver = dlopen("libopenreg.so", RTLD_LAZY | RTLD_NOLOAD);
  return reinterpret_cast<Function>(dlsym(driver, name));
}

bool fails(const char* name) { return std::getenv(name) != nullptr; }

}  // namespace

extern "C" orError_t orMemset(void* ptr, int value, size_t count) {
  return fails("FAIL_MEMSET")
             ? orErrorUnknown
             : original<decltype(&orMemset)>(__func__)(ptr, value, count);
}

extern "C" occlResult_t occlCommSharesMemory(occlComm_t comm, int* shares) {
  return fails("FAIL_SHARES")
             ? occlSystemError
             : original<decltype(&occlCommSharesMemory)>(__func__)(comm, shares);
}
