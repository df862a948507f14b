// The random state that generators, captures and kernels share; see
// docs/runtime/generator.md.
#include "csrc/runtime/random/PhiloxState.h"

namespace openreg {

PhiloxState PhiloxGeneratorState::get() const {
  const std::lock_guard lock(mutex_);
  return words_;
}

void PhiloxGeneratorState::set(PhiloxState words) {
  const std::lock_guard lock(mutex_);
  words_ = words;
}

void PhiloxGeneratorState::set_offset(uint64_t offset) {
  const std::lock_guard lock(mutex_);
  words_.offset = offset;
}

PhiloxState PhiloxGeneratorState::reserve(uint64_t blocks) {
  const std::lock_guard lock(mutex_);
  const PhiloxState taken = words_;
  words_.offset += blocks;
  return taken;
}

static_assert(sizeof(PhiloxState) == 16, "the state of a generator is these bytes");

}  // namespace openreg
