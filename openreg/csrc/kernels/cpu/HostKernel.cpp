// A kernel that is a C++ closure and runs on a thread of the host; see
// docs/operators/borrowed-kernels.md.
#include "csrc/kernels/cpu/HostKernel.h"

#include <ATen/record_function.h>

#include <atomic>
#include <new>
#include <optional>
#include <utility>

#include "csrc/aten/common/CpuDispatchGuard.h"
#include "csrc/kernels/cpu/KernelWarnings.h"
#include "csrc/runtime/device/OpenRegGuard.h"
#include "csrc/runtime/errors/OpenRegException.h"
#include "csrc/runtime/stream/OpenRegStream.h"

namespace openreg::cpu {
namespace {

// Arguments that fit into this size share one kind of block; larger ones are rare.
constexpr size_t kBlock = 1024;
constexpr size_t kFetched = 512;  // most arguments are smaller
constexpr size_t kCacheLine = 64;

// How many blocks a thread starts with, so that it rarely has to fetch freed blocks.
constexpr int kFirstBlocks = 32;

// A block that is free.
struct Free {
  Free* next;
};

// Blocks that any thread returned. No thread takes one block out of this list: it takes
// the whole list, so a push needs no lock.
std::atomic<Free*> returned = nullptr;

// The blocks that a thread has taken and not used yet.
struct Stock {
  Free* first = nullptr;
  ~Stock() {
    while (first != nullptr) {
      ::operator delete(std::exchange(first, first->next), kBlock);
    }
  }

  void refill() {
    first = returned.exchange(nullptr, std::memory_order_acquire);
    if (first != nullptr) {
      return;
    }
    for (int i = 0; i < kFirstBlocks; ++i) {
      first = new (::operator new(kBlock)) Free{first};
    }
  }
};
thread_local Stock stock;

// Prefetches the next block, if there is one, from the cache of the core that used it
// last.
void fetch(const void* block) {
  const auto* bytes = static_cast<const char*>(block);
  for (size_t i = 0; i < kFetched; i += kCacheLine) {
#if defined(__x86_64__)
    // The compiler has this instruction only for processors newer than the oldest.
    asm volatile("prefetchw %0" ::"m"(bytes[i]));
#else
    __builtin_prefetch(bytes + i, 1);
#endif
  }
}

}  // namespace

void* allocate_arguments(size_t bytes) {
  if (bytes > kBlock) {
    return ::operator new(bytes);
  }
  if (stock.first == nullptr) {
    stock.refill();
  }
  Free* block = std::exchange(stock.first, stock.first->next);
  fetch(stock.first);
  return block;
}

void free_arguments(void* args, size_t bytes) noexcept {
  if (bytes > kBlock) {
    ::operator delete(args, bytes);
    return;
  }
  // The first value read is a guess that the loop compares, so it may be relaxed. The
  // push is a release: what the destructor wrote comes before the block's next use.
  auto* block = new (args) Free{returned.load(std::memory_order_relaxed)};
  while (!returned.compare_exchange_weak(block->next, block, std::memory_order_release,
                                         std::memory_order_relaxed)) {
  }
}

// In the state in which device code runs: with the settings of the launch, and no
// autograd, no autocast and no Python mode of the thread that happens to execute it; an
// exception becomes a fault.
orError_t HostKernel::run(void* args) noexcept {
  auto* kernel = static_cast<HostKernel*>(args);
  const LaunchState::Scope settings(kernel->state);
  const CpuDispatchGuard scope;
  // A thread of the program that waits may run this. Its profile must not show the CPU
  // operators that the kernel is made of. The guard costs more than a small kernel, and
  // at::hasCallbacks() locks a mutex of all threads. An observer that samples the calls
  // may be inactive now, and may then record some of these operators.
  std::optional<at::DisableRecordFunctionGuard> unrecorded;
  if (at::getStepCallbacksUnlessEmpty(at::RecordScope::FUNCTION).has_value()) {
    unrecorded.emplace();
  }
  const c10::WarningUtils::WarningHandlerGuard warnings(&KernelWarnings::get());
  try {
    kernel->compute();
    return orSuccess;
  } catch (const c10::Error& error) {
    orKernelFault(error.what_without_backtrace());
  } catch (const std::exception& error) {
    orKernelFault(error.what());
  } catch (...) {
    orKernelFault("unknown C++ exception");
  }
  return orErrorLaunchFailure;
}

void launch_host_kernel(const char* name, c10::Device device,
                        std::unique_ptr<HostKernel> kernel, Precision reads) {
  kernel->state = LaunchState::of_caller(reads);
  const OpenRegGuard scope(device.index());
  const orStream_t stream = native_handle(current_stream(device.index()));
  const orError_t error = orLaunchKernel(name, &HostKernel::run, kernel.get(),
                                         &HostKernel::destroy, stream);
  if (C10_UNLIKELY(error != orSuccess)) {
    throwError(error, {__func__, __FILE__, uint32_t{__LINE__}},
               c10::str("cannot launch '", name, "' on ", device));
  }
  kernel.release();  // the driver deletes it, after the kernel ran
}

}  // namespace openreg::cpu
