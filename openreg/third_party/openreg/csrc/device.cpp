// A device: its memory, streams and sticky fault. See docs/start/architecture.md.
#include "device.h"

#include <algorithm>
#include <cstdio>
#include <thread>

#include "call.h"
#include "capture.h"
#include "event.h"
#include "stream.h"

namespace openreg::driver {

Device::Device(int index) : heap(config.deviceMemory), index_(index) {
  orStream_t unused = nullptr;  // NULL is the handle of the default stream
  defaultStream_ = table<Stream>.create(&unused, *this, 0);
}

int Device::addStream(Stream* stream) {
  std::lock_guard lock(streamsMutex_);
  streams_.push_back(stream);
  return streamsMade_++;
}

void Device::removeStream(Stream* stream) {
  std::lock_guard lock(streamsMutex_);
  std::erase(streams_, stream);
}

// Destroyed streams with work pending count too. A stream whose last owner was just
// released has no work and is left out.
std::vector<Ref<Stream>> Device::liveStreams() {
  std::vector<Ref<Stream>> live;
  std::lock_guard lock(streamsMutex_);
  live.reserve(
      streams_.size());  // a Ref released under the lock would call removeStream()
  for (Stream* stream : streams_) {
    if (auto ref = Table<Stream>::refTo(stream)) live.push_back(std::move(ref));
  }
  return live;
}

void Device::addGraphLaunch(std::shared_ptr<Mark> end) {
  std::lock_guard lock(streamsMutex_);
  std::erase_if(graphLaunches_, [](auto& mark) { return mark->done(); });
  graphLaunches_.push_back(std::move(end));
  anyGraphLaunch_.store(true, std::memory_order_release);
}

void Device::wait() {
  waitForStreams();
  if (!anyGraphLaunch_.load(std::memory_order_acquire)) return;
  std::vector<std::shared_ptr<Mark>> launches;
  {
    std::lock_guard lock(streamsMutex_);
    launches = graphLaunches_;
  }
  for (auto& end : launches) end->stream->wait(end->position);
}

void Device::waitForStreams() {
  const uint64_t done = done_.load(std::memory_order_acquire);  // before added_
  if (added_.load(std::memory_order_acquire) == done) return;
  auto streams = liveStreams();
  std::vector<uint64_t> ends;
  for (auto& stream : streams) ends.push_back(stream->end());
  for (size_t i = 0; i < streams.size(); ++i) streams[i]->wait(ends[i]);
}

void Device::wakeSleepers() {
  for (auto& stream : liveStreams()) stream->wakeSleepers();
}

void Device::halt(std::chrono::steady_clock::time_point deadline) {
  halted_ = liveStreams();
  for (auto& stream : halted_) stream->halt(deadline);
}

void Device::raiseFault(orError_t error, const char* kernel, int stream,
                        const char* words) {
  std::lock_guard lock(faultMutex_);
  if (faulted()) return;
  char text[900];
  std::snprintf(text, sizeof text,
                "device %d stopped: kernel '%s' on stream %d failed with %s%s%s. Tasks "
                "behind it were dropped; orDeviceReset(), simulator.reset() in Python, "
                "makes the device usable again",
                index_, kernel, stream, orGetErrorName(error), *words ? ": " : "",
                words);
  faultWords_ = text;
  fault_.store(error, std::memory_order_release);
}

void Device::clearFault() {
  std::lock_guard lock(faultMutex_);
  fault_.store(orSuccess, std::memory_order_release);
}

orError_t Device::failWithFault() {
  std::lock_guard lock(faultMutex_);
  orError_t error = fault_.load(std::memory_order_acquire);
  if (error == orSuccess) return orSuccess;  // another thread reset the device just now
  return fail(error, "%s", faultWords_.c_str());
}

orError_t checkDevice(int device) {
  if (orError_t error = loadConfig()) return error;
  if (config.deviceCount == 0) {
    return fail(orErrorNoDevice,
                "OPENREG_DEVICE_COUNT is 0: there is no device to use");
  }
  if (device < 0 || device >= config.deviceCount) {
    return fail(orErrorInvalidDevice,
                "there is no device %d, the devices are 0 to %d. Set "
                "OPENREG_DEVICE_COUNT before the first use to have more",
                device, config.deviceCount - 1);
  }
  return orSuccess;
}

}  // namespace openreg::driver

using namespace openreg::driver;

orError_t orGetDeviceCount(int* count) {
  return call<kPlain>(__func__, [&]() -> orError_t {
    if (count == nullptr) return fail(orErrorInvalidValue, "count is null");
    if (orError_t error = loadConfig()) return error;
    *count = config.deviceCount;
    return orSuccess;
  });
}

orError_t orGetDevice(int* device) {
  return call<kInTasks>(__func__, [&]() -> orError_t {
    if (device == nullptr) return fail(orErrorInvalidValue, "device is null");
    // Every operator calls this. Once the driver runs, orSetDevice() has checked the
    // device.
    if (processState() != ProcessState::kRunning) {
      if (orError_t error = checkDevice(thread.device)) return error;
    }
    *device = thread.device;
    return orSuccess;
  });
}

orError_t orSetDevice(int device) {
  return call<kPlain>(__func__, [&]() -> orError_t {
    if (orError_t error = checkDevice(device)) return error;
    thread.device = device;
    return orSuccess;
  });
}

orError_t orGetDeviceProperties(orDeviceProp* prop, int device) {
  return call<kPlain>(__func__, [&]() -> orError_t {
    if (prop == nullptr) return fail(orErrorInvalidValue, "prop is null");
    if (orError_t error = checkDevice(device)) return error;
    *prop = {};
    std::snprintf(prop->name, sizeof prop->name, "OpenReg simulated device");
    prop->totalGlobalMem = config.deviceMemory;
    prop->major = 1;
    prop->minor = 0;
    prop->multiProcessorCount =
        static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    prop->concurrentKernels = 1;
    prop->canMapHostMemory = 0;
    prop->streamPrioritiesSupported = 1;
    return orSuccess;
  });
}

orError_t orDeviceSynchronize(void) {
  return call<kStart | kRecorded>(__func__, [&]() -> orError_t {
    Device& device = currentDevice();
    if (orError_t error = refuseWaitFor(device)) return error;
    device.wait();
    return device.reportFault();
  });
}

orError_t orDeviceReset(void) {
  return call(__func__, [&]() -> orError_t {
    Device& device = currentDevice();
    if (orError_t error = refuseWaitFor(device)) return error;
    device.wait();
    device.clearFault();
    return orSuccess;
  });
}
