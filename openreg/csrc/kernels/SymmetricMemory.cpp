// How kernels of several ranks signal to each other; see
// docs/modules/symmetric-memory.md.
#include "csrc/kernels/SymmetricMemory.h"

#include <c10/util/Exception.h>
#include <linux/futex.h>
#include <openreg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>

#include "csrc/kernels/cpu/HostKernel.h"

namespace openreg {

// LITERALINCLUDE START: SIGNAL_EXCHANGE
// Changes the word of `sender` in the pad of `owner`, as soon as it is `before`.
void SignalPad::exchange(int owner, int sender, uint32_t before, uint32_t after) const {
  using Clock = std::chrono::steady_clock;
  auto* words = static_cast<uint32_t*>(orKernelAddress(pads[owner]));  // (1)
  const std::atomic_ref<uint32_t> word(words[channel * size + sender]);
  const auto end = Clock::now() + timeout;
  uint32_t seen = before;
  while (
      !word.compare_exchange_strong(seen, after, std::memory_order_acq_rel)) {  // (2)
    TORCH_CHECK(
        Clock::now() < end, name, " timed out on rank ", rank, " of ", size,
        ", channel ", channel, ": rank ", owner == rank ? sender : owner,
        owner == rank ? " has sent no signal" : " has not received the last signal",
        " within ", timeout.count(), " ms");
    const timespec pause{.tv_sec = 0, .tv_nsec = 10'000'000};
    syscall(SYS_futex, &words[channel * size + sender], FUTEX_WAIT, seen, &pause,
            nullptr, 0);  // (3)
    seen = before;
  }
  syscall(SYS_futex, &words[channel * size + sender], FUTEX_WAKE, INT_MAX, nullptr,
          nullptr, 0);
}
// LITERALINCLUDE END: SIGNAL_EXCHANGE

void SignalPad::put(int to) const { exchange(to, rank, 0, 1); }

void SignalPad::wait(int from) const { exchange(rank, from, 1, 0); }

// LITERALINCLUDE START: SIGNAL_BARRIER
void SignalPad::barrier() const {
  for (int other = 0; other < size; ++other) {
    if (other != rank) {
      put(other);
    }
  }
  for (int other = 0; other < size; ++other) {
    if (other != rank) {
      wait(other);
    }
  }
}
// LITERALINCLUDE END: SIGNAL_BARRIER

namespace kernels {

void barrier(c10::Device device, const SignalPad& pad) {
  cpu::launch_on(pad.name, device, [pad] { pad.barrier(); });
}

void put_signal(c10::Device device, const SignalPad& pad, int to) {
  cpu::launch_on(pad.name, device, [pad, to] { pad.put(to); });
}

void wait_signal(c10::Device device, const SignalPad& pad, int from) {
  cpu::launch_on(pad.name, device, [pad, from] { pad.wait(from); });
}

}  // namespace kernels

}  // namespace openreg
