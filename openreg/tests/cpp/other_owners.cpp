// Registers what the backend registers, before the backend does; see
// docs/frontend/import-orders.md.
#include <c10/core/AllocatorConfig.h>
#include <c10/core/StorageImpl.h>
#include <torch/csrc/jit/serialization/pickler_helper.h>

namespace {

constexpr auto kType = c10::DeviceType::PrivateUse1;

c10::intrusive_ptr<c10::StorageImpl> make(c10::StorageImpl::use_byte_size_t use,
                                          c10::SymInt bytes, c10::DataPtr data,
                                          c10::Allocator* allocator, bool resizable) {
  return c10::make_intrusive<c10::StorageImpl>(use, std::move(bytes), std::move(data),
                                               allocator, resizable);
}

}  // namespace

extern "C" void own_key(const char* key) {
  c10::CachingAllocator::AcceleratorAllocatorConfig::registerDeviceConfigParserHook(
      [](const std::string&) {}, {key});
}

extern "C" void own_storages() { c10::SetStorageImplCreate(kType, &make); }

extern "C" void own_tags() {
  using Tags = std::unordered_map<std::string, bool>;
  torch::jit::TensorBackendMetaRegistry(
      kType, [](const at::Tensor&, Tags&) {}, [](const at::Tensor&, Tags&) {});
}
