// Uses what the backend keeps for the whole process; see docs/operators/fallback.md.
#include <c10/util/Exception.h>

#include <cstdio>

#include "csrc/aten/ops/Fallback.h"
#include "csrc/runtime/memory/OpenRegAllocatorConfig.h"
#include "csrc/runtime/memory/OpenRegDeviceAllocator.h"
#include "csrc/runtime/memory/OpenRegHostAllocator.h"
#include "csrc/runtime/random/OpenRegGenerator.h"
#include "csrc/runtime/stream/OpenRegStream.h"

namespace {

// The driver refuses everything by now. Anything but an exception is a defect.
template <class Call>
void refused(Call call) {
  try {
    call();
  } catch (const c10::Error&) {
  }
}

}  // namespace

extern "C" int use_the_backend() {
  openreg::set_fallback_mode("warn");
  const auto counts = openreg::fallback_counts();
  const auto found = counts.find("aten::hypot.out");
  std::printf("fallbacks %ld\n", found == counts.end() ? -1L : long{found->second});
  const at::Generator generator = openreg::default_generator(0);
  std::printf("generator %d seed %lu\n", int{generator.device().index()},
              (unsigned long)generator.current_seed());
  std::printf("key %s\n", openreg::OpenRegAllocatorConfig::getKeys().begin()->c_str());
  refused([] { openreg::stream_from_pool(0, 0); });
  refused([] { openreg::external_stream(nullptr, 0); });
  refused([] { openreg::OpenRegDeviceAllocator::get().allocate(1 << 30); });
  refused([] { openreg::host_allocator().allocate(1 << 30); });
  openreg::reset_fallback_counts();
  std::printf("reset %zu\n", openreg::fallback_counts().size());
  std::fflush(stdout);
  return 0;
}
