// A last step of a process, after the backend's static objects are gone; see
// docs/operators/fallback.md.
//
// Loaded before the backend, so its exit handler runs after the backend's destructors.
#include <malloc.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

namespace {

int (*step)() = nullptr;

void run_on_a_thread() {
  if (step == nullptr) {
    return;
  }
  int status = 1;
  std::thread([&] { status = step(); }).join();
  _exit(status);  // torch's own static objects are none of this test's business
}

}  // namespace

// What `chosen` returns becomes the status of the process.
extern "C" void run_last(int (*chosen)()) {
  step = chosen;
  mallopt(M_PERTURB, 0xa5);  // memory that is freed from here on holds no old values
}

__attribute__((constructor)) static void register_step() {
  std::atexit(run_on_a_thread);
}
