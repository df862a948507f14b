// Collects the driver's records during a profile; see docs/modules/profiler.md.
#pragma once

#include <c10/util/ApproximateClock.h>
#include <openreg_activity.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace openreg {

// A record, and what torch was doing on the thread that made the call.
struct LoggedActivity {
  orActivity activity;
  int32_t thread = 0;            // of calls: the system's number of the thread
  uint64_t op = 0;               // of calls: the operator they were made in; 0: none
  std::vector<uint64_t> ranges;  // of calls: the open record_function() ranges
};

// One recording. The driver has at most one at a time in a process.
class ActivityLog {
 public:
  ActivityLog();
  ~ActivityLog();
  ActivityLog(const ActivityLog&) = delete;
  ActivityLog& operator=(const ActivityLog&) = delete;

  void start();
  // Returns at once, also while the device works.
  void stop();

  // After stop(): the records, with times in nanoseconds since 1970.
  std::vector<LoggedActivity>& activities() { return activities_; }
  // After stop(): how many tasks were launched meanwhile and are not among them.
  size_t unfinished() const { return unfinished_; }

  // torch enters and leaves an operator or a range, on the calling thread.
  void enter_op(uint64_t id) { ids().ops.push_back(id); }
  void leave_op() { leave(ids().ops); }
  void enter_range(uint64_t id) { ids().ranges.push_back(id); }
  void leave_range() { leave(ids().ranges); }

 private:
  // What is open on a thread.
  struct Ids {
    uint64_t log = 0;
    std::vector<uint64_t> ops;
    std::vector<uint64_t> ranges;
  };
  Ids& ids() const;
  // An operator may have begun before the profile did.
  static void leave(std::vector<uint64_t>& open) {
    if (!open.empty()) {
      open.pop_back();
    }
  }
  static void receive(const orActivity* activity, void* log) noexcept;

  const uint64_t number_;
  bool recording_ = false;
  std::optional<c10::ApproximateClockToUnixTimeConverter> clock_;
  std::mutex mutex_;
  std::vector<LoggedActivity> activities_;
  size_t unfinished_ = 0;
};

}  // namespace openreg
