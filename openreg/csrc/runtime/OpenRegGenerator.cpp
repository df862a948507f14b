// A device's generator: its seed and its state; see docs/operators/fallback.md.
#include "csrc/runtime/OpenRegGenerator.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/TensorBase.h>

#include <cstring>
#include <vector>

namespace openreg {

OpenRegGeneratorImpl::OpenRegGeneratorImpl(DeviceIndex device)
    : c10::GeneratorImpl(c10::Device(c10::DeviceType::PrivateUse1, device),
                         c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)) {}

void OpenRegGeneratorImpl::set_current_seed(uint64_t seed) {
  seed_ = seed;
  offset_ = 0;
}

uint64_t OpenRegGeneratorImpl::current_seed() const { return seed_; }

uint64_t OpenRegGeneratorImpl::seed() {
  set_current_seed(c10::detail::getNonDeterministicRandom());
  return seed_;
}

void OpenRegGeneratorImpl::set_offset(uint64_t offset) { offset_ = offset; }

uint64_t OpenRegGeneratorImpl::get_offset() const { return offset_; }

void OpenRegGeneratorImpl::set_state(const c10::TensorImpl& new_state) {
  uint64_t words[2];
  TORCH_CHECK_TYPE(
      new_state.device().is_cpu() &&
          new_state.dtype() == caffe2::TypeMeta::Make<uint8_t>(),
      "openreg: the state of a generator is a CPU tensor of dtype torch.uint8");
  TORCH_CHECK_VALUE(new_state.numel() == sizeof(words) && new_state.is_contiguous(),
                    "openreg: the state of a generator has ", sizeof(words),
                    " contiguous bytes, this tensor has ", new_state.numel());
  std::memcpy(words, new_state.data(), sizeof(words));
  seed_ = words[0];
  offset_ = words[1];
}

c10::intrusive_ptr<c10::TensorImpl> OpenRegGeneratorImpl::get_state() const {
  const uint64_t words[2] = {seed_, offset_};
  const at::TensorBase state =
      at::detail::empty_cpu({static_cast<int64_t>(sizeof(words))}, at::kByte);
  std::memcpy(state.mutable_data_ptr(), words, sizeof(words));
  return state.getIntrusivePtr();
}

OpenRegGeneratorImpl* OpenRegGeneratorImpl::clone_impl() const {
  auto* copy = new OpenRegGeneratorImpl(device().index());
  copy->seed_ = seed_;
  copy->offset_ = offset_;
  return copy;
}

const at::Generator& default_generator(DeviceIndex device) {
  static const std::vector<at::Generator> generators = [] {
    std::vector<at::Generator> all;
    for (DeviceIndex index = 0; index < device_count(); ++index) {
      all.push_back(at::make_generator<OpenRegGeneratorImpl>(index));
    }
    return all;
  }();
  if (device == -1) {
    device = current_device();
  }
  check_device_index(device);
  return generators[static_cast<size_t>(device)];
}

}  // namespace openreg
