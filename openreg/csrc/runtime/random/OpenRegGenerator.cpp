// A device's generator: seed, offset, state; see docs/runtime/generator.md.
#include "csrc/runtime/random/OpenRegGenerator.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/TensorBase.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "csrc/runtime/stream/OpenRegStream.h"
#include "csrc/runtime/stream/StreamCapture.h"

namespace openreg {

// LITERALINCLUDE START: RESERVE
PhiloxKernelState reserve(const std::optional<at::Generator>& generator,
                          DeviceIndex device, uint64_t blocks) {
  auto* impl = at::get_generator_or_default<OpenRegGeneratorImpl>(
      generator, default_generator(device));
  if (const auto capture = StreamCapture::of(current_stream(device))) {
    return capture->reserve(impl->words(), device, blocks);
  }
  const std::lock_guard lock(impl->mutex_);  // not between two calls of another thread
  return impl->words()->reserve(blocks);
}
// LITERALINCLUDE END: RESERVE

// VENDOR: the random engine of your kernels, in Philox.h, and its state
OpenRegGeneratorImpl::OpenRegGeneratorImpl(DeviceIndex device)
    : OpenRegGeneratorImpl(device, c10::make_intrusive<PhiloxGeneratorState>()) {}

OpenRegGeneratorImpl::OpenRegGeneratorImpl(
    DeviceIndex device, c10::intrusive_ptr<PhiloxGeneratorState> words)
    : c10::GeneratorImpl(c10::Device(c10::DeviceType::PrivateUse1, device),
                         c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
      words_(std::move(words)) {}

c10::intrusive_ptr<PhiloxGeneratorState> OpenRegGeneratorImpl::words() const {
  const std::lock_guard lock(words_mutex_);
  return words_;
}

void OpenRegGeneratorImpl::refuse_in_capture(const char* call) const {
  openreg::refuse_in_capture(device().index(), call,
                             "a replay starts from the generator's state at that time: "
                             "set the state before the replay");
}

void OpenRegGeneratorImpl::set_current_seed(uint64_t seed) {
  refuse_in_capture("manual_seed of a generator");
  words()->set({seed, 0});
}

uint64_t OpenRegGeneratorImpl::current_seed() const { return words()->get().seed; }

uint64_t OpenRegGeneratorImpl::seed() {
  const uint64_t seed = c10::detail::getNonDeterministicRandom();
  set_current_seed(seed);
  return seed;
}

void OpenRegGeneratorImpl::set_offset(uint64_t offset) {
  refuse_in_capture("set_offset of a generator");
  words()->set_offset(offset);
}

uint64_t OpenRegGeneratorImpl::get_offset() const { return words()->get().offset; }

// LITERALINCLUDE START: STATE
void OpenRegGeneratorImpl::set_state(const c10::TensorImpl& new_state) {
  PhiloxState words;
  at::detail::check_rng_state(new_state);  // (1)
  TORCH_CHECK(new_state.numel() == sizeof(words),
              "RNG state is wrong size: openreg's has ", sizeof(words),
              " bytes, this tensor has ", new_state.numel());
  std::memcpy(&words, new_state.data(), sizeof(words));
  refuse_in_capture("set_state of a generator");  // (2)
  this->words()->set(words);
}

c10::intrusive_ptr<c10::TensorImpl> OpenRegGeneratorImpl::get_state() const {
  const PhiloxState words = this->words()->get();
  const at::TensorBase state =
      at::detail::empty_cpu({sizeof(words)}, at::kByte);  // (3)
  std::memcpy(state.mutable_data_ptr(), &words, sizeof(words));
  return state.getIntrusivePtr();
}
// LITERALINCLUDE END: STATE

// LITERALINCLUDE START: GRAPHSAFE
c10::intrusive_ptr<c10::GeneratorImpl> OpenRegGeneratorImpl::graphsafe_get_state()
    const {
  return c10::intrusive_ptr<c10::GeneratorImpl>::unsafe_steal_from_new(
      new OpenRegGeneratorImpl(device().index(), words()));  // (1)
}

void OpenRegGeneratorImpl::graphsafe_set_state(
    const c10::intrusive_ptr<c10::GeneratorImpl>& other) {
  const auto* impl = dynamic_cast<const OpenRegGeneratorImpl*>(other.get());
  TORCH_CHECK_TYPE(impl != nullptr,
                   "openreg: expected the state of an openreg generator, but got one "
                   "of device ",
                   other->device());
  refuse_in_capture("graphsafe_set_state of a generator");
  c10::intrusive_ptr<PhiloxGeneratorState> theirs = impl->words();
  const std::lock_guard lock(words_mutex_);
  words_ = std::move(theirs);  // (2)
}
// LITERALINCLUDE END: GRAPHSAFE

OpenRegGeneratorImpl* OpenRegGeneratorImpl::clone_impl() const {
  return new OpenRegGeneratorImpl(  // copies the words
      device().index(), c10::make_intrusive<PhiloxGeneratorState>(words()->get()));
}

// LITERALINCLUDE START: DEFAULT_GENERATOR
const at::Generator& default_generator(DeviceIndex device) {
  static const auto& generators = *[] {  // (1)
    auto all = std::make_unique<std::vector<at::Generator>>();
    for (DeviceIndex index = 0; index < device_count(); ++index) {
      all->push_back(at::make_generator<OpenRegGeneratorImpl>(index));
    }
    return all.release();
  }();
  if (device == -1) {
    device = current_device();
  }
  check_device_index(device);  // (2)
  return generators[static_cast<size_t>(device)];
}
// LITERALINCLUDE END: DEFAULT_GENERATOR

}  // namespace openreg
