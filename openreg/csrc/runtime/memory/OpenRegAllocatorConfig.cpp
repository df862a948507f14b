// The settings of PYTORCH_ALLOC_CONF for device memory; see docs/runtime/memory.md.
#include "csrc/runtime/memory/OpenRegAllocatorConfig.h"

#include <algorithm>
#include <bit>

#include "csrc/runtime/device/OpenRegRegistration.h"

namespace openreg {
namespace {

using namespace c10::CachingAllocator;

// A size that is too large must not wrap around to a small size.
constexpr size_t round_up(size_t size, size_t step) {
  return size > SIZE_MAX - step ? size : (size + step - 1) / step * step;
}

}  // namespace

OpenRegAllocatorConfig& OpenRegAllocatorConfig::instance() {
  static OpenRegAllocatorConfig config;
  static const bool parsed = [] {
    config.parseArgs(getAllocatorSettings());  // torch has read the variable
    return true;
  }();
  static_cast<void>(parsed);
  return config;
}

// VENDOR: the settings that your allocator adds to PYTORCH_ALLOC_CONF
const std::unordered_set<std::string>& OpenRegAllocatorConfig::getKeys() {
  static const auto* keys =
      new std::unordered_set<std::string>{"openreg_memory_fraction"};
  return *keys;
}

// LITERALINCLUDE START: PARSE_ARGS
void OpenRegAllocatorConfig::parseArgs(const std::string& settings) {
  double fraction = 1.0;
  const ConfigTokenizer tokens(settings);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const std::string& key = tokens[i];
    if (key == "openreg_memory_fraction") {  // (1)
      fraction = tokens.toDouble(i = tokens.skipKey(i));
      TORCH_CHECK_VALUE(fraction >= 0 && fraction <= 1,
                        "openreg: openreg_memory_fraction is ", fraction,
                        ": it must be from 0 to 1");
    } else if (key == "expandable_segments") {  // (2)
      TORCH_CHECK_VALUE(!tokens.toBool(i = tokens.skipKey(i)),
                        "openreg: expandable_segments:True needs a driver that maps "
                        "memory into a range: remove it from PYTORCH_ALLOC_CONF");
    } else {
      i = tokens.skipKey(i);  // (3)
    }
    i += 1;  // the comma
  }
  memory_fraction = fraction;
}
// LITERALINCLUDE END: PARSE_ARGS

// VENDOR: the alignment and the sizes of the memory that your driver allocates
size_t round_size(size_t bytes) {
  const size_t divisions = AcceleratorAllocatorConfig::roundup_power2_divisions(bytes);
  if (divisions > 1 && bytes > kMinBlockSize * divisions) {
    return round_up(bytes, std::bit_floor(bytes) / divisions);
  }
  return std::max(kMinBlockSize, round_up(bytes, kMinBlockSize));
}

size_t segment_size(size_t rounded) {
  if (rounded <= kSmallSize) {
    return kSmallBuffer;
  }
  if (rounded < kMinLargeAlloc) {
    return AcceleratorAllocatorConfig::large_segment_size();
  }
  return round_up(rounded, kRoundLarge);
}

AllocParams fit_of(size_t rounded) {
  return {rounded, AcceleratorAllocatorConfig::max_split_size(),
          AcceleratorAllocatorConfig::max_non_split_rounding_size()};
}

// LITERALINCLUDE START: REGISTER_CONFIG
// torch has one hook for all devices. In a build with CUDA, CUDA's parser is registered
// first, and is still called. REGISTER_ALLOCATOR_CONFIG_PARSE_HOOK would replace it,
// and throw where another device has registered one of the keys.
void register_config() {
  const auto previous = AcceleratorAllocatorConfig::getConfigParserHook();
  AcceleratorAllocatorConfig::registerDeviceConfigParserHook(
      [previous](const std::string& settings) {
        if (previous) {
          previous(settings);
        }
        OpenRegAllocatorConfig::instance().parseArgs(settings);
      },
      OpenRegAllocatorConfig::getKeys());
}

const Registration settings_registered("the allocator's settings", register_config);
// LITERALINCLUDE END: REGISTER_CONFIG

}  // namespace openreg
