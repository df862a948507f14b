// Prints what the backend's libraries want destroyed at exit; see
// docs/operators/fallback.md.
//
// Preloaded: every static object with a destructor calls this __cxa_atexit.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {
bool is_ours(const char* library) {
  return std::strstr(library, "openreg.so") != nullptr ||
         std::strstr(library, "starter.so") != nullptr;
}
}  // namespace

extern "C" int __cxa_atexit(void (*destructor)(void*), void* object, void* library) {
  using Function = int (*)(void (*)(void*), void*, void*);
  static const auto original =
      reinterpret_cast<Function>(dlsym(RTLD_NEXT, "__cxa_atexit"));
  Dl_info ours{};
  Dl_info theirs{};
  const auto* code = reinterpret_cast<const void*>(destructor);
  if (library != nullptr && dladdr(library, &ours) != 0 && is_ours(ours.dli_fname) &&
      dladdr(code, &theirs)) {
    char text[1024];
    const auto offset = [](const void* address, const void* base) {
      return reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(base);
    };
    const int length = std::snprintf(text, sizeof text, "destroyed %s %zx %s %zx\n",
                                     ours.dli_fname, offset(object, ours.dli_fbase),
                                     theirs.dli_fname, offset(code, theirs.dli_fbase));
    static_cast<void>(!write(STDOUT_FILENO, text, static_cast<size_t>(length)));
  }
  return original(destructor, object, library);
}
