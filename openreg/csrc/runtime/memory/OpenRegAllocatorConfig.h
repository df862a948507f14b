// The settings of PYTORCH_ALLOC_CONF for device memory; see docs/runtime/memory.md.
#pragma once

#include <c10/core/AllocatorConfig.h>

#include <atomic>

#include "csrc/Export.h"
#include "csrc/runtime/memory/BlockPool.h"

namespace openreg {

// torch parses the keys that all accelerators share. The hook of this class, registered
// in the .cpp file, parses the device's own keys, which getKeys() returns to torch;
// with a hook, torch rejects every other key. Follows c10/core/AllocatorConfig.h.
class OPENREG_EXPORT OpenRegAllocatorConfig {
 public:
  // The first call parses the environment variable. ValueError for an invalid value;
  // the next call then tries again.
  static OpenRegAllocatorConfig& instance();

  // The device's own keys.
  static const std::unordered_set<std::string>& getKeys();
  // Called by torch whenever the settings change. ValueError.
  void parseArgs(const std::string& settings);

  // Share of a device's memory that this process may use, 0 to 1.
  std::atomic<double> memory_fraction{1.0};
};

// Bytes to reserve for a request: a multiple of 512, or of a power of two's division.
size_t round_size(size_t bytes);
// Bytes to request from the driver for a rounded request: small ones share 2 MiB,
// requests below 10 MiB share large_segment_size_mb, others get multiples of 2 MiB.
size_t segment_size(size_t rounded);
// What the pool may do for a rounded request.
AllocParams fit_of(size_t rounded);

}  // namespace openreg
