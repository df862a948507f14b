// Reads the environment, and counts devices without OpenCL; see docs/opencl/driver.md.
#include "config.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "error.h"

namespace oclrt {
namespace {

// Never destroyed: threads may call the driver while the process exits.
Config& loaded = *new Config;

bool is_there(const char* path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored) &&
         !std::filesystem::is_empty(path, ignored);
}

// LITERALINCLUDE START: COUNT
// OpenCL: no query works before an implementation has started, and PoCL starts threads,
// which a fork loses. Instead, the files through which the loader finds implementations
// show whether one is installed. The number of its devices is not in them: that is the
// environment's number, and the start fails if there are fewer.
bool has_implementation() {
  if (const char* files = std::getenv("OCL_ICD_FILENAMES")) return *files != '\0';
  const char* vendors = std::getenv("OCL_ICD_VENDORS");
  return is_there(vendors != nullptr ? vendors : "/etc/OpenCL/vendors");
}
// LITERALINCLUDE END: COUNT

// Reads a whole number with an optional suffix K, M or G (powers of 1024).
bool parse_number(const char* text, bool suffixes, unsigned long long* value) {
  if (*text < '0' || *text > '9') return false;  // strtoull would take "-1" and " 1"
  errno = 0;
  char* end = nullptr;
  *value = std::strtoull(text, &end, 10);
  if (errno != 0) return false;
  int shift = 0;
  if (suffixes && *end != '\0') {
    const char* known = "KMG";
    const char* at = std::strchr(known, *end & ~0x20);  // either case
    if (at == nullptr || *at == '\0') return false;
    shift = 10 * static_cast<int>(at - known + 1);
    ++end;
  }
  if (*end != '\0' || *value > (~0ULL >> shift)) return false;
  *value <<= shift;
  return true;
}

// True when the variable is unset, or set within [low, high].
template <class T>
bool read_variable(const char* name, unsigned long long low, unsigned long long high,
                   bool suffixes, const char* expected, T* value,
                   std::string* problem) {
  const char* text = std::getenv(name);
  if (text == nullptr) return true;
  unsigned long long number = 0;
  if (parse_number(text, suffixes, &number) && number >= low && number <= high) {
    *value = static_cast<T>(number);
    return true;
  }
  *problem = std::string(name) + "='" + text + "' is not " + expected +
             ". Correct the variable or unset it";
  return false;
}

std::string default_cache_directory() {
  if (const char* chosen = std::getenv("OCLRT_CACHE_DIR")) return chosen;
  const char* home = std::getenv("HOME");
  return home != nullptr && *home != '\0' ? std::string(home) + "/.cache/oclrt" : "";
}

// The error of the environment; empty if it is valid.
std::string read_environment() {
  std::string problem;
  Config& c = loaded;
  if (!read_variable("OCLRT_SUB_DEVICES", 0, 1, false, "0 or 1", &c.sub_devices,
                     &problem)) {
    return problem;
  }
  // Two devices are what the tests of a backend need; a part of a device has at least
  // one core. Whole devices cannot be counted, and usually there is one.
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  c.device_count = c.sub_devices ? static_cast<int>(std::min(2U, cores)) : 1;
  read_variable(OCLRT_VARIABLE("DEVICE_COUNT"), 0, kMaxDevices, false,
                "a number from 0 to 64", &c.device_count, &problem) &&
      read_variable(
          OCLRT_VARIABLE("DEVICE_MEMORY"), 1ULL << 20, 1ULL << 40, true,
          "a size from 1M to 1024G (bytes, or a number with suffix K, M or G)",
          &c.device_memory, &problem) &&
      read_variable(OCLRT_VARIABLE("LAUNCH_BLOCKING"), 0, 1, false, "0 or 1",
                    &c.launch_blocking, &problem);
  c.device_memory &= ~size_t{4095};  // whole pages
  if (!has_implementation()) c.device_count = 0;
  const auto pages = static_cast<size_t>(std::max(1L, sysconf(_SC_PHYS_PAGES)));
  const auto page = static_cast<size_t>(std::max(1L, sysconf(_SC_PAGESIZE)));
  c.host_share = (pages / 2 / static_cast<size_t>(std::max(1, c.device_count))) * page;
  if (const char* platform = std::getenv("OCLRT_PLATFORM")) c.platform = platform;
  c.cache_directory = default_cache_directory();
  return problem;
}

}  // namespace

orError_t load_config() {
  static const auto& problem = *new std::string(read_environment());
  if (problem.empty()) return orSuccess;
  return fail(orErrorInitializationError, "%s", problem.c_str());
}

const Config& config() { return loaded; }

}  // namespace oclrt
