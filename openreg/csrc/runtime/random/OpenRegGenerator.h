// A device's generator: seed, offset, state; see docs/runtime/generator.md.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/GeneratorImpl.h>

#include <mutex>
#include <optional>

#include "csrc/Export.h"
#include "csrc/runtime/device/OpenRegFunctions.h"
#include "csrc/runtime/random/PhiloxState.h"

namespace openreg {

// LITERALINCLUDE START: GENERATOR
// Follows c10/core/GeneratorImpl.h. Torch locks mutex_ around most of these calls, but
// initial_seed() in Python does not. So they neither rely on mutex_ nor lock it.
class OPENREG_EXPORT OpenRegGeneratorImpl final : public c10::GeneratorImpl {
 public:
  explicit OpenRegGeneratorImpl(DeviceIndex device);
  static c10::DeviceType device_type() { return c10::DeviceType::PrivateUse1; }  // (1)

  void set_current_seed(uint64_t seed) override;  // (2)
  uint64_t current_seed() const override;
  uint64_t seed() override;
  void set_offset(uint64_t offset) override;
  uint64_t get_offset() const override;
  void set_state(const c10::TensorImpl& new_state) override;  // (3)
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;
  void graphsafe_set_state(
      const c10::intrusive_ptr<c10::GeneratorImpl>& other) override;
  c10::intrusive_ptr<c10::GeneratorImpl> graphsafe_get_state() const override;  // (4)

  c10::intrusive_ptr<PhiloxGeneratorState> words() const;  // (5)

 private:
  OpenRegGeneratorImpl(DeviceIndex device,
                       c10::intrusive_ptr<PhiloxGeneratorState> words);
  OpenRegGeneratorImpl* clone_impl() const override;  // (6)
  void refuse_in_capture(const char* call) const;

  mutable std::mutex words_mutex_;  // which words, not what they say
  c10::intrusive_ptr<PhiloxGeneratorState> words_;
};
// LITERALINCLUDE END: GENERATOR

// The generator that is used where none is given. -1 means the current device.
OPENREG_EXPORT const at::Generator& default_generator(DeviceIndex device);

// Called by a random operator before its launch: reserves `blocks` counters of
// `generator`, or of the default generator of `device`; in a capture, those of each
// replay. Throws if the generator is of another type of device.
OPENREG_EXPORT PhiloxKernelState reserve(const std::optional<at::Generator>& generator,
                                         DeviceIndex device, uint64_t blocks);

}  // namespace openreg
