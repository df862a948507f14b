// Calls guard and hooks as torch's C++ does, for tests; see docs/runtime/guard.md.
#include <ATen/Context.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/StreamGuard.h>
#include <torch/library.h>

namespace {

c10::Device device_of(int64_t index) {
  return c10::Device(at::kPrivateUse1, static_cast<c10::DeviceIndex>(index));
}

const c10::impl::DeviceGuardImplInterface& guard() {
  return *c10::impl::getDeviceGuardImpl(at::kPrivateUse1);
}

int64_t record_event() {
  void* event = nullptr;
  guard().record(&event, guard().getStream(guard().getDevice()), -1,
                 c10::EventFlag::PYTORCH_DEFAULT);
  return reinterpret_cast<int64_t>(event);
}

void destroy_event(int64_t event) {
  guard().destroyEvent(reinterpret_cast<void*>(event), 0);
}

// Leaves by an exception while another device and another stream are current.
void throw_under_guards(int64_t index) {
  const c10::DeviceGuard device(device_of(index));
  const c10::StreamGuard stream(guard().getNewStream(device_of(index), 0));
  TORCH_CHECK(guard().getDevice().index() == index, "the guard did not switch");
  TORCH_CHECK_VALUE(false, "thrown on device ", index);
}

// LITERALINCLUDE START: FROM_BLOB
// A tensor over memory of which only the address is known.
at::Tensor from_blob(int64_t address, int64_t count) {
  void* data = reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
  return at::for_blob(data, {count})
      .options(at::TensorOptions(at::kPrivateUse1).dtype(at::kFloat))
      .make_tensor();
}
// LITERALINCLUDE END: FROM_BLOB

int64_t default_seed(int64_t index) {
  const auto& generator = at::globalContext().defaultGenerator(device_of(index));
  return static_cast<int64_t>(generator.current_seed());
}

}  // namespace

TORCH_LIBRARY(openreg_calls, m) {
  m.def("set_device(int device) -> ()",
        [](int64_t d) { guard().setDevice(device_of(d)); });
  m.def("unchecked_set_device(int device) -> ()",
        [](int64_t d) { guard().uncheckedSetDevice(device_of(d)); });
  m.def("exchange_device(int device) -> int", [](int64_t d) -> int64_t {
    return guard().exchangeDevice(device_of(d)).index();
  });
  m.def("device_count() -> int", []() -> int64_t { return guard().deviceCount(); });
  m.def("capability(int device) -> ()",
        [](int64_t d) { guard().getDeviceCapability(device_of(d)); });
  m.def("stream(int device) -> int",
        [](int64_t d) { return guard().getStream(device_of(d)).id(); });
  m.def("default_stream(int device) -> int",
        [](int64_t d) { return guard().getDefaultStream(device_of(d)).id(); });
  m.def("record_event() -> int", &record_event);
  m.def("destroy_event(int event) -> ()", &destroy_event);
  m.def("throw_under_guards(int device) -> ()", &throw_under_guards);
  m.def("from_blob(int address, int count) -> Tensor", &from_blob);
  m.def("default_seed(int device) -> int", &default_seed);
  m.def("is_built() -> bool",
        [] { return at::detail::getPrivateUse1Hooks().isBuilt(); });
}
