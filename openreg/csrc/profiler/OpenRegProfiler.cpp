// What torch.profiler shows of the device; see docs/modules/profiler.md.
//
// torch's header is empty unless USE_KINETO is defined; CMakeLists.txt does that for
// this piece, and adds Kineto's headers to the search path.
#include <c10/util/Exception.h>
#include <libkineto.h>
#include <output_base.h>
#include <torch/csrc/profiler/standalone/privateuse1_profiler.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "csrc/profiler/ActivityLog.h"

namespace openreg {
namespace {

using libkineto::ActivityType;
using libkineto::GenericTraceActivity;

// LITERALINCLUDE START: PROFILER_TYPES
ActivityType type_of(orActivityKind kind) {
  switch (kind) {
    case orActivityCall:
      return ActivityType::PRIVATEUSE1_RUNTIME;
    case orActivityMemcpy:
      return ActivityType::GPU_MEMCPY;
    case orActivityMemset:
      return ActivityType::GPU_MEMSET;
    case orActivityKernel:
      break;
  }
  return ActivityType::CONCURRENT_KERNEL;
}

// Never destroyed: a profile may end while the process exits.
const std::set<ActivityType>& known_types() {
  static const auto* types = new std::set<ActivityType>{
      ActivityType::PRIVATEUSE1_RUNTIME, ActivityType::CONCURRENT_KERNEL,
      ActivityType::GPU_MEMCPY, ActivityType::GPU_MEMSET,
      ActivityType::GPU_USER_ANNOTATION};
  return *types;
}
// LITERALINCLUDE END: PROFILER_TYPES

std::string device_name(int64_t device) { return "openreg:" + std::to_string(device); }

libkineto::DeviceInfo device_info(int64_t device) {
  return {device, libkineto::kExceedMaxPid + device, device_name(device), ""};
}

class Session final : public libkineto::IActivityProfilerSession {
 public:
  explicit Session(std::set<ActivityType> types) : types_(std::move(types)) {
    span_->name = "openreg";
    buffer_->gpuOpCount = 0;
  }

  // LITERALINCLUDE START: PROFILER_SESSION
  void start() override { log_.start(); }
  void stop() override {
    log_.stop();
    if (log_.unfinished() > 0) {
      TORCH_WARN("openreg: ", log_.unfinished(), " task(s) had not run when the ",
                 "profile ended, and are not in it. The profiler waits for the ",
                 "current device alone: call torch.openreg.synchronize(device) for ",
                 "each other device before the profile ends");
    }
  }
  void pushCorrelationId(uint64_t id) override { log_.enter_op(id); }
  void popCorrelationId() override { log_.leave_op(); }
  void pushUserCorrelationId(uint64_t id) override { log_.enter_range(id); }
  void popUserCorrelationId() override { log_.leave_range(); }
  // LITERALINCLUDE END: PROFILER_SESSION

  // LITERALINCLUDE START: PROFILER_PROCESS
  void processTrace(libkineto::ActivityLogger& logger,
                    libkineto::getLinkedActivityCallback linked, int64_t start,
                    int64_t end) override {
    span_->startTime = start;
    span_->endTime = end;
    std::unordered_map<uint64_t, const LoggedActivity*> calls;  // (1)
    for (const LoggedActivity& logged : log_.activities()) {
      if (logged.activity.kind == orActivityCall) {
        calls[logged.activity.correlation] = &logged;
      }
    }
    for (const LoggedActivity& logged : log_.activities()) {
      const auto call = calls.find(logged.activity.correlation);
      const LoggedActivity& launcher =
          call == calls.end() ? logged : *call->second;  // (2)
      add(logged, launcher.op == 0 ? nullptr : linked(static_cast<int>(launcher.op)));
      if (logged.activity.kind != orActivityCall) {
        for (const uint64_t id : launcher.ranges) {
          if (const auto* range = linked(static_cast<int>(id))) {
            extend(*range, logged.activity);
          }
        }
      }
    }
    // LITERALINCLUDE END: PROFILER_PROCESS
    // LITERALINCLUDE START: PROFILER_HAND_OVER
    for (auto& [key, range] : ranges_) {
      log(std::move(range));
    }
    for (const auto& activity : buffer_->activities) {
      logger.handleActivity(*activity);  // keeps the address, not a copy
    }
    for (const int64_t device : devices_) {
      logger.handleDeviceInfo(device_info(device), start);
    }
  }
  // LITERALINCLUDE END: PROFILER_HAND_OVER

  void processTrace(libkineto::ActivityLogger& logger) override {
    processTrace(logger, [](int32_t) { return nullptr; }, 0, 0);
  }

  std::vector<libkineto::ResourceInfo> getResourceInfos() override {
    std::vector<libkineto::ResourceInfo> rows;
    for (const auto& [device, stream] : streams_) {
      rows.push_back({stream, stream, device,
                      device_name(device) + " stream " + std::to_string(stream)});
    }
    return rows;
  }

  std::unique_ptr<libkineto::CpuTraceBuffer> getTraceBuffer() override {
    return std::move(buffer_);
  }
  // Kineto requests one device. Without it, Kineto lists sixteen.
  std::unique_ptr<libkineto::DeviceInfo> getDeviceInfo() override {
    return std::make_unique<libkineto::DeviceInfo>(
        device_info(devices_.empty() ? 0 : *devices_.begin()));
  }
  std::vector<std::string> errors() override { return {}; }

 private:
  // A kind that was not requested is left out here, not in the driver: the rows of
  // kernels need the calls that launched them.
  void log(std::unique_ptr<GenericTraceActivity> activity) {
    if (types_.count(activity->activityType) != 0) {
      buffer_->activities.push_back(std::move(activity));
    }
  }

  // LITERALINCLUDE START: PROFILER_ADD
  void add(const LoggedActivity& logged, const libkineto::ITraceActivity* op) {
    const orActivity& from = logged.activity;
    const bool call = from.kind == orActivityCall;
    auto activity =
        std::make_unique<GenericTraceActivity>(*span_, type_of(from.kind), from.name);
    activity->startTime = static_cast<int64_t>(from.begin);
    activity->endTime = static_cast<int64_t>(from.end);
    activity->device = call ? libkineto::processId() : from.device;  // (1)
    activity->resource = call ? logged.thread : from.stream;
    activity->threadId = logged.thread;
    activity->linked = op;                                                      // (2)
    activity->id = op == nullptr ? 0 : static_cast<int32_t>(from.correlation);  // (3)
    activity->flow.id = static_cast<uint32_t>(from.correlation);                // (4)
    activity->flow.type = libkineto::kLinkAsyncCpuGpu;
    activity->flow.start = call;
    activity->addMetadata("correlation", from.correlation);
    // LITERALINCLUDE END: PROFILER_ADD
    // LITERALINCLUDE START: PROFILER_METADATA
    if (!call) {
      activity->addMetadata("device", from.device);
      activity->addMetadata("stream", from.stream);
      devices_.insert(from.device);
      streams_.insert({from.device, from.stream});
    }
    if (from.kind == orActivityMemcpy || from.kind == orActivityMemset) {
      activity->addMetadata("bytes", from.bytes);
    }
    log(std::move(activity));
  }
  // LITERALINCLUDE END: PROFILER_METADATA

  // LITERALINCLUDE START: PROFILER_RANGES
  // A range of record_function() shows on each stream that it launched work on, from
  // the first piece of work to the last.
  void extend(const libkineto::ITraceActivity& range, const orActivity& work) {
    const int64_t id = range.correlationId();
    const auto begin = static_cast<int64_t>(work.begin);
    const auto end = static_cast<int64_t>(work.end);
    auto& activity = ranges_[{work.device, work.stream, id}];
    if (activity == nullptr) {
      activity = std::make_unique<GenericTraceActivity>(
          *span_, ActivityType::GPU_USER_ANNOTATION, range.name());
      activity->startTime = begin;
      activity->device = work.device;
      activity->resource = work.stream;
      activity->id = static_cast<int32_t>(id);
    }
    activity->startTime = std::min(activity->startTime, begin);
    activity->endTime = std::max(activity->endTime, end);
  }
  // LITERALINCLUDE END: PROFILER_RANGES

  const std::set<ActivityType> types_;
  ActivityLog log_;
  std::unique_ptr<libkineto::CpuTraceBuffer> buffer_ =
      std::make_unique<libkineto::CpuTraceBuffer>();
  libkineto::TraceSpan* span_ = &buffer_->span;
  std::map<std::tuple<int, int, int64_t>, std::unique_ptr<GenericTraceActivity>>
      ranges_;
  std::set<int64_t> devices_;
  std::set<std::pair<int64_t, int64_t>> streams_;
};

class OpenRegProfiler final : public libkineto::IActivityProfiler {
 public:
  const std::string& name() const override { return name_; }
  const std::set<ActivityType>& availableActivities() const override {
    return known_types();
  }

  // LITERALINCLUDE START: REGISTER_PROFILER
  // nullptr: this profile records nothing of the device. A profile of only the CPU also
  // requests driver calls; leaving them out avoids their cost.
  std::unique_ptr<libkineto::IActivityProfilerSession> configure(
      const std::set<ActivityType>& types, const libkineto::Config&) override {
    const auto& known = availableActivities();
    const bool wanted = std::any_of(known.begin(), known.end(), [&](ActivityType type) {
      return type != ActivityType::PRIVATEUSE1_RUNTIME && types.count(type) != 0;
    });
    return wanted ? std::make_unique<Session>(types) : nullptr;
  }
  // The overload that torch 2.13 calls. Session::start() gives the start time.
  std::unique_ptr<libkineto::IActivityProfilerSession> configure(
      int64_t, int64_t, const std::set<ActivityType>& types,
      const libkineto::Config& config) override {
    return configure(types, config);
  }

 private:
  const std::string name_ = "openreg";
};

REGISTER_PRIVATEUSE1_PROFILER(OpenRegProfiler);
// LITERALINCLUDE END: REGISTER_PROFILER

}  // namespace
}  // namespace openreg
