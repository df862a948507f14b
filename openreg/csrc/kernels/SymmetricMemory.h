// How kernels of several ranks signal to each other; see
// docs/modules/symmetric-memory.md.
#pragma once

#include <c10/core/Device.h>

#include <chrono>
#include <cstdint>
#include <vector>

namespace openreg {

// A signal pad is an array of 32-bit words in the memory of each rank: one for each
// pair of a channel and a sender. All words are 0 while no rank waits. Plain data,
// copied into a kernel.
struct SignalPad {
  const char* name;  // for errors
  std::vector<void*> pads;
  int rank, size, channel;
  std::chrono::milliseconds timeout;

  // In a kernel. Waits until `to` has received the previous signal, then sets it.
  void put(int to) const;
  // Waits for the signal of `from`, and clears it.
  void wait(int from) const;
  // Returns when every rank has called it. All earlier writes of the ranks are then
  // visible.
  void barrier() const;

 private:
  void exchange(int owner, int sender, uint32_t before, uint32_t after) const;
};

// Each enqueues a kernel on the current stream of `device`.
namespace kernels {
void barrier(c10::Device device, const SignalPad& pad);
void put_signal(c10::Device device, const SignalPad& pad, int to);
void wait_signal(c10::Device device, const SignalPad& pad, int from);
}  // namespace kernels

}  // namespace openreg
