// Lets Gloo's threads be late; see docs/ship/known-crashes.md.
//
// Loaded before torch, so that execute() is found in place of
// c10d::ProcessGroupGloo::AsyncWork::execute. It runs that one, and returns after
// let_go() has been called, or after all naps: only then the thread frees the work.
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <thread>

#define EXECUTE                                             \
  "_ZN4c10d16ProcessGroupGloo9AsyncWork7executeERKN3c1013"  \
  "intrusive_ptrIS1_NS2_6detail34intrusive_target_default_" \
  "null_typeIS1_EEEE"

namespace {

std::atomic<bool> late_enough = false;

void nap() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

}  // namespace

// LITERALINCLUDE START: LATE_GLOO
extern "C" {
int naps = 3000;  // a minute
}

extern "C" void let_go() {
  late_enough = true;
  for (int i = 0; i < 10; ++i) {
    nap();  // meanwhile the thread begins to wait for Python's lock, which is ours
  }
}

extern "C" void execute(const void* work) asm(EXECUTE);

void execute(const void* work) {
  void* torch = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
  reinterpret_cast<void (*)(const void*)>(dlsym(torch, EXECUTE))(work);
  for (int i = 0; i < naps && !late_enough; ++i) {
    nap();
  }
}
// LITERALINCLUDE END: LATE_GLOO
