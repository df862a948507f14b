// Costs of the driver's operations, beside memcpy. See docs/start/architecture.md.
//
// Figures depend on the machine: compare them within one run.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "openreg.h"

namespace {

void check(orError_t error) {
  if (error == orSuccess) return;
  std::fprintf(stderr, "%s: %s\n", orGetErrorName(error), orGetErrorDetail());
  std::exit(1);
}

// Nanoseconds per call: the median of seven runs of `count` calls.
template <class Body>
double measure(int count, Body&& body) {
  std::vector<double> runs;
  for (int run = 0; run < 7; ++run) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) body();
    std::chrono::duration<double, std::nano> spent =
        std::chrono::steady_clock::now() - start;
    runs.push_back(spent.count() / count);
  }
  std::sort(runs.begin(), runs.end());
  return runs[runs.size() / 2];
}

void report(const char* what, double value, const char* unit) {
  std::printf("%-36s %10.1f %s\n", what, value, unit);
}

orError_t empty(void*) { return orSuccess; }

void launch() { check(orLaunchKernel("empty", empty, nullptr, nullptr, nullptr)); }

}  // namespace

int main() {
  void* ptr = nullptr;
  check(orMalloc(&ptr, 512));
  report("orMalloc + orFree, 4 KiB",
         measure(100000,
                 [] {
                   void* block = nullptr;
                   check(orMalloc(&block, 4096));
                   check(orFree(block));
                 }),
         "ns");
  report("orDeviceSynchronize, idle",
         measure(100000, [] { check(orDeviceSynchronize()); }), "ns");
  report("orStreamSynchronize, idle",
         measure(100000, [] { check(orStreamSynchronize(nullptr)); }), "ns");
  report("launch + orStreamSynchronize",
         measure(100000,
                 [] {
                   launch();
                   check(orStreamSynchronize(nullptr));
                 }),
         "ns");
  report("launch, pipelined",
         measure(1,
                 [] {
                   for (int i = 0; i < 100000; ++i) launch();
                   check(orStreamSynchronize(nullptr));
                 }) /
             100000,
         "ns");
  orEvent_t event = nullptr;
  check(orEventCreate(&event));
  report("orEventRecord, with timing",
         measure(20000, [&] { check(orEventRecord(event, nullptr)); }), "ns");
  check(orEventDestroy(event));
  check(orEventCreateWithFlags(&event, orEventDisableTiming));
  report("orEventRecord, without timing",
         measure(20000, [&] { check(orEventRecord(event, nullptr)); }), "ns");
  report("orEventQuery", measure(100000, [&] { check(orEventQuery(event)); }), "ns");
  check(orEventDestroy(event));
  report("orSetDevice", measure(100000, [] { check(orSetDevice(0)); }), "ns");
  orStream_t stream = nullptr;
  check(orStreamCreate(&stream));
  report("launch + wait, two streams, one event",
         measure(20000,
                 [&] {
                   orEvent_t between = nullptr;
                   check(orEventCreateWithFlags(&between, orEventDisableTiming));
                   launch();
                   check(orEventRecord(between, nullptr));
                   check(orStreamWaitEvent(stream, between));
                   check(orLaunchKernel("empty", empty, nullptr, nullptr, stream));
                   check(orStreamSynchronize(stream));
                   check(orEventDestroy(between));
                 }),
         "ns");
  check(orStreamDestroy(stream));

  constexpr size_t kBytes = 64 << 20;
  std::vector<char> host(kBytes, 1);
  std::vector<char> other(kBytes, 2);
  void* device = nullptr;
  check(orMalloc(&device, kBytes));
  auto rate = [](double ns) { return kBytes / ns; };
  report("memcpy, 64 MiB",
         rate(measure(3, [&] { std::memcpy(other.data(), host.data(), kBytes); })),
         "GB/s");
  report(
      "orMemcpy host to device, 64 MiB",
      rate(measure(
          3,
          [&] { check(orMemcpy(device, host.data(), kBytes, orMemcpyHostToDevice)); })),
      "GB/s");
  report(
      "orMemcpy device to host, 64 MiB",
      rate(measure(
          3,
          [&] { check(orMemcpy(host.data(), device, kBytes, orMemcpyDeviceToHost)); })),
      "GB/s");
  check(orFree(device));
  check(orFree(ptr));
  return 0;
}
