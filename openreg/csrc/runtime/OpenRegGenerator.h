// A device's generator: its seed and its state; see docs/operators/fallback.md.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/GeneratorImpl.h>

#include "csrc/Export.h"
#include "csrc/runtime/OpenRegFunctions.h"

namespace openreg {

// A counter-based generator is a seed and an offset: how many numbers were drawn.
// Follows c10/core/GeneratorImpl.h. Lock mutex_ around all members except the constant.
class OpenRegGeneratorImpl final : public c10::GeneratorImpl {
 public:
  explicit OpenRegGeneratorImpl(DeviceIndex device);

  void set_current_seed(uint64_t seed) override;
  uint64_t current_seed() const override;
  uint64_t seed() override;  // takes a new one from the system, and returns it
  void set_offset(uint64_t offset) override;
  uint64_t get_offset() const override;
  // The state is a CPU tensor of 16 bytes: seed and offset.
  void set_state(const c10::TensorImpl& new_state) override;
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;

 private:
  OpenRegGeneratorImpl* clone_impl() const override;

  uint64_t seed_ = c10::default_rng_seed_val;
  uint64_t offset_ = 0;
};

// The generator that is used where none is given. -1 means the current device.
OPENREG_EXPORT const at::Generator& default_generator(DeviceIndex device);

}  // namespace openreg
