// Runs an operator on the CPU: modes, counters; see docs/operators/fallback.md.
#include "csrc/aten/ops/Fallback.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/record_function.h>
#include <c10/util/irange.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "csrc/aten/common/TensorMemory.h"
#include "csrc/runtime/random/OpenRegGenerator.h"
#include "csrc/runtime/random/Philox.h"
#include "csrc/runtime/stream/StreamCapture.h"

namespace openreg {
namespace {

enum class Mode : uint8_t { Allow, Warn, Error };

// VENDOR: which mode a program starts with: allow, warn or error
constexpr std::string_view kModeNames[] = {"allow", "warn", "error"};

Mode parse_mode(std::string_view text, const char* source) {
  for (const auto index : c10::irange(std::size(kModeNames))) {
    if (text == kModeNames[index]) {
      return static_cast<Mode>(index);
    }
  }
  TORCH_CHECK_VALUE(false, "openreg: ", source,
                    " must be 'allow', 'warn' or 'error', not '", text, "'");
}

std::atomic<Mode>& mode() {
  static std::atomic<Mode> value = [] {
    const char* text = std::getenv("OPENREG_FALLBACK");
    return text == nullptr ? Mode::Allow : parse_mode(text, "OPENREG_FALLBACK");
  }();
  return value;
}

struct Record {
  int64_t times = 0;
  bool warned = false;
};

// LITERALINCLUDE START: FALLBACK_COUNTERS
// Never destroyed: C++ threads may still fall back while the process exits.
struct Counters {
  std::mutex mutex;
  std::map<std::string, Record> by_operator;
};

Counters& counters() {
  static auto* only = new Counters;
  return *only;
}
// LITERALINCLUDE END: FALLBACK_COUNTERS

// Calls `visit` with every tensor of an argument: one, none, or those of a list.
template <class Visit>
void for_each_tensor(const c10::IValue& argument, Visit visit) {
  const auto visit_defined = [&](const c10::IValue& value) {
    if (value.isTensor() && value.toTensor().defined()) {
      visit(value.toTensor());
    }
  };
  if (argument.isTensorList() || argument.isOptionalTensorList()) {
    for (const c10::IValue& item : argument.toListRef()) {
      visit_defined(item);
    }
  } else {
    visit_defined(argument);
  }
}

// Operators that take indices from the CPU, on every device.
bool takes_host_indices(const std::string& name) {
  return name == "aten::index" || name == "aten::index_put_" ||
         name == "aten::_index_put_impl_";
}

// LITERALINCLUDE START: FALLBACK_DEVICE
// The device of the results, which is that of the first device tensor. The first tensor
// of any device is not enough, because a Python number in `2 // x` arrives as a CPU
// tensor without dimensions.
std::optional<c10::Device> device_of(at::ArrayRef<c10::IValue> arguments) {
  std::optional<c10::Device> device;
  for (const c10::IValue& argument : arguments) {
    for_each_tensor(argument, [&](const at::Tensor& tensor) {
      if (tensor.is_privateuseone() && !device.has_value()) {
        device = tensor.device();
      }
    });
  }
  for (const c10::IValue& argument : arguments) {
    if (!device.has_value() && argument.isDevice()) {  // a factory: rand(device=...)
      device = argument.toDevice();
    }
  }
  return device;
}
// LITERALINCLUDE END: FALLBACK_DEVICE

// LITERALINCLUDE START: FALLBACK_CHECK_DEVICES
// Tensors of several devices are the caller's mistake, as on any device.
void check_devices(const c10::FunctionSchema& schema,
                   at::ArrayRef<c10::IValue> arguments, c10::Device device) {
  for (const auto index : c10::irange(arguments.size())) {
    const c10::AliasInfo* alias = schema.arguments()[index].alias_info();
    const bool written = alias != nullptr && alias->isWrite();
    for_each_tensor(arguments[index], [&](const at::Tensor& tensor) {
      const bool from_host = tensor.is_cpu() && !written &&
                             (tensor.dim() == 0 || takes_host_indices(schema.name()));
      TORCH_CHECK(tensor.device() == device || from_host,
                  "Expected all tensors to be on the same device, but found at least "
                  "two devices, ",
                  device, " and ", tensor.device(), ", in ", schema.name());
      if (from_host && tensor.layout() == at::kStrided) {
        check_storage(tensor);  // a CPU kernel would read beyond it
      }
    });
  }
}
// LITERALINCLUDE END: FALLBACK_CHECK_DEVICES

// LITERALINCLUDE START: FALLBACK_GENERATOR
// A CPU kernel draws from a CPU generator. Give it one with a random seed, which comes
// from the device's generator.
at::Generator cpu_generator_for(const std::optional<at::Generator>& generator,
                                c10::Device device) {
  const PhiloxState state = reserve(generator, device.index(), /*blocks=*/1).state();
  const PhiloxBlock block = philox(state.seed, state.offset, 0);
  return at::detail::createCPUGenerator(uint64_t{block[1]} << 32 | block[0]);
}
// LITERALINCLUDE END: FALLBACK_GENERATOR

void replace_generators(const c10::FunctionSchema& schema, torch::jit::Stack* stack,
                        size_t first, c10::Device device) {
  for (const auto index : c10::irange(schema.arguments().size())) {
    c10::IValue& value = (*stack)[first + index];
    const auto& type = *schema.arguments()[index].type();
    const bool takes_generator =
        type.kind() == c10::TypeKind::GeneratorType ||
        (type.kind() == c10::TypeKind::OptionalType &&
         type.containedType(0)->kind() == c10::TypeKind::GeneratorType);
    if (!takes_generator) {
      continue;
    }
    value = cpu_generator_for(value.toOptional<at::Generator>(), device);
  }
}

// LITERALINCLUDE START: FALLBACK_OUT
// An `out` argument is only written. The CPU kernel gets another tensor of its sizes
// and strides, and without its old values. It may resize this tensor, and then warns;
// afterwards the values are copied to the caller's tensor. A kernel on copies cannot
// detect overlapping memory, which a device kernel would reject.
struct Out {
  at::Tensor given;
  at::Tensor written;

  explicit Out(const at::Tensor& out)
      : given(out),
        written(out.layout() == at::kStrided
                    ? at::empty_strided(out.sizes(), out.strides(), out.options())
                    : at::empty({0}, out.options())) {}

  void finish() const {
    if (given.sizes() != written.sizes()) {
      given.resize_(written.sizes());
      if (written.is_non_overlapping_and_dense()) {
        given.as_strided_(written.sizes(), written.strides());
      }
    }
    given.copy_(written);
  }
};
// LITERALINCLUDE END: FALLBACK_OUT

// LITERALINCLUDE START: FALLBACK_REPLACE_OUTS
std::vector<Out> replace_outs(const c10::FunctionSchema& schema,
                              torch::jit::Stack* stack, size_t first) {
  std::vector<Out> outs;
  const auto replace = [&](const at::Tensor& given) {
    at::assert_no_internal_overlap(given);
    return outs.emplace_back(given).written;
  };
  for (const auto index : c10::irange(schema.arguments().size())) {
    c10::IValue& value = (*stack)[first + index];
    if (!schema.arguments()[index].is_out()) {
      continue;
    }
    if (value.isTensor()) {
      value = replace(value.toTensor());
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for_each_tensor(value, [&](const at::Tensor& t) { list.push_back(replace(t)); });
      value = list;
    }
  }
  // LITERALINCLUDE END: FALLBACK_REPLACE_OUTS
  // LITERALINCLUDE START: FALLBACK_OVERLAPS
  for (const c10::IValue& argument :
       torch::jit::last(*stack, schema.arguments().size())) {
    for_each_tensor(argument, [&](const at::Tensor& tensor) {
      for (const Out& out : outs) {
        at::assert_no_partial_overlap(out.given, tensor);
      }
    });
  }
  return outs;
}
// LITERALINCLUDE END: FALLBACK_OVERLAPS

// Converts a tensor that the CPU fallback returned for the caller.
at::Tensor result_for_caller(const at::Tensor& result, const std::vector<Out>& outs,
                             c10::Device device) {
  for (const Out& out : outs) {
    if (result.is_same(out.written)) {
      return out.given;
    }
  }
  return result.defined() && result.is_cpu() ? result.to(device) : result;
}

}  // namespace

void count_fallback(const std::string& name) {
  const Mode current = mode();
  TORCH_CHECK_NOT_IMPLEMENTED(
      current != Mode::Error, "openreg: ", name,
      " has no kernel for the openreg device, and falling back to the CPU is switched "
      "off. Register a kernel, or allow it: torch.openreg.set_fallback_mode('allow')");
  bool warn = false;
  {
    Counters& all = counters();
    const std::lock_guard lock(all.mutex);
    Record& record = all.by_operator[name];
    ++record.times;
    warn = current == Mode::Warn && !std::exchange(record.warned, true);
  }
  if (warn) {
    TORCH_WARN("openreg: ", name,
               " has no kernel for the openreg device: it runs on the "
               "CPU, and its arguments and results are copied");
  }
}

std::optional<c10::Device> check_fallback(const c10::OperatorHandle& op,
                                          const torch::jit::Stack& stack) {
  const c10::FunctionSchema& schema = op.schema();
  const auto arguments = torch::jit::last(stack, schema.arguments().size());
  const auto device = device_of(arguments);
  if (device.has_value()) {
    refuse_in_capture(
        device->index(), c10::toString(op.operator_name()),
        "it falls back to the CPU, and a replay runs only work of the device");
    check_devices(schema, arguments, *device);
  }
  return device;
}

// LITERALINCLUDE START: FALLBACK
void cpu_fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const c10::FunctionSchema& schema = op.schema();
  const auto device = check_fallback(op, *stack);
  count_fallback(c10::toString(op.operator_name()));  // (1)
  RECORD_FUNCTION("openreg::cpu_fallback", {});       // shows in a profile
  if (!device.has_value()) {
    at::native::cpu_fallback(op, stack, /*error_on_views=*/true);
    return;
  }
  const size_t first = stack->size() - schema.arguments().size();
  replace_generators(schema, stack, first, *device);                 // (2)
  const std::vector<Out> outs = replace_outs(schema, stack, first);  // (3)
  at::native::cpu_fallback(op, stack, /*error_on_views=*/true);      // (4)
  // LITERALINCLUDE END: FALLBACK
  // LITERALINCLUDE START: FALLBACK_RESULTS
  for (const Out& out : outs) {
    out.finish();
  }
  for (const auto index : c10::irange(schema.returns().size())) {
    c10::IValue& result = torch::jit::peek(*stack, index, schema.returns().size());
    if (result.isTensor()) {
      result = result_for_caller(result.toTensor(), outs, *device);  // (1)
    } else if (result.isTensorList()) {
      const c10::List<at::Tensor> list = result.toTensorList();
      for (const auto item : c10::irange(list.size())) {
        list.set(item, result_for_caller(list.get(item), outs, *device));
      }
    }
  }
}
// LITERALINCLUDE END: FALLBACK_RESULTS

void set_fallback_mode(std::string_view text) {
  mode() = parse_mode(text, "the fallback mode");
  Counters& all = counters();
  const std::lock_guard lock(all.mutex);
  for (auto& [name, record] : all.by_operator) {
    record.warned = false;
  }
}

std::string fallback_mode() {
  return std::string(kModeNames[static_cast<size_t>(mode().load())]);
}

std::map<std::string, int64_t> fallback_counts() {
  Counters& all = counters();
  const std::lock_guard lock(all.mutex);
  std::map<std::string, int64_t> counts;
  for (const auto& [name, record] : all.by_operator) {
    counts[name] = record.times;
  }
  return counts;
}

void reset_fallback_counts() {
  Counters& all = counters();
  const std::lock_guard lock(all.mutex);
  all.by_operator.clear();
}

}  // namespace openreg
