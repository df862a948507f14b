// From a TensorIterator to the arguments of a kernel; see docs/opencl/kernels.md.
#include "csrc/kernels/opencl/Iterator.h"

#include <c10/util/irange.h>

#include <array>
#include <cstring>

#include "csrc/aten/common/TensorMemory.h"
#include "csrc/runtime/device/OclGuard.h"

namespace ocl::opencl {
namespace {

constexpr int kMaxDims = 16;
constexpr int kMaxInputs = 4;

// One work item computes one element. IN1 to IN4 are INPUT(k) or a number.
constexpr const char* kPointwise = R"(
typedef struct { Value a, b, c, d, p, q, r, s; } Numbers;

#ifdef CONTIGUOUS
#define OFFSET(k) i * sizeof(JOIN(T, k))
#define FIND_OFFSETS
#else
#define OFFSET(k) offsets[k]
#define FIND_OFFSETS int offsets[OPERANDS]; find_offsets(&layout, i, offsets);
#endif
// LITERALINCLUDE START: POINTWISE_SOURCE
#define INPUT(k) (Value)LOAD(JOIN(T, k), in##k + OFFSET(k), 0)

kernel void pointwise(global char* out, global const char* in1, global const char* in2,
                      global const char* in3, global const char* in4,
                      const Numbers numbers, const Layout layout, ulong count) {
  if (get_global_id(0) >= count) {
    return;
  }
  const int i = get_global_id(0);
  FIND_OFFSETS
  const Value p = numbers.p, q = numbers.q, r = numbers.r, s = numbers.s;
  const Value a = IN1, b = IN2, c = IN3, d = IN4;
  STORE(T0, out + OFFSET(0), 0, EXPRESSION);
}
)";
// LITERALINCLUDE END: POINTWISE_SOURCE

// The struct Numbers: values of the dtype of the computation, one after the other.
struct Numbers {
  std::array<std::byte, 64> bytes{};
  size_t size;

  explicit Numbers(at::ScalarType dtype) : size(8 * Number(0, dtype).size()) {}

  void set(size_t index, const Number& number) {
    std::memcpy(&bytes[index * number.size()], number.value(), number.size());
  }
};

Bytes argument(const Numbers& numbers) { return {numbers.bytes.data(), numbers.size}; }

// How many dimensions a program loops over: few numbers make few programs.
int padded_dims(const at::TensorIteratorBase& iterator) {
  const int dims = iterator.ndim();
  return dims <= 2 ? 2 : dims <= 4 ? 4 : kMaxDims;
}

const char* text_of(const Formula& formula, at::ScalarType dtype) {
  const char* text = dtype == at::kBool   ? formula.boolean
                     : is_floating(dtype) ? formula.floating
                                          : formula.integral;
  if (text == nullptr && dtype == at::kBool) {
    text = formula.integral;
  }
  return text == nullptr ? formula.floating : text;
}

at::ScalarType dtype_of(const at::TensorIteratorBase& iterator) {
  const std::optional<at::ScalarType> common = iterator.maybe_common_dtype();
  return common.has_value() ? *common : iterator.dtype(0);
}

// LITERALINCLUDE START: LAUNCH_POINTWISE
void launch_pointwise(at::TensorIteratorBase& part, const Source& source,
                      const std::string& type, const Numbers& numbers) {
  const auto address = [&part](int operand) -> void* {
    const bool there = operand < part.ntensors() && !part.is_cpu_scalar(operand);
    return there ? part.data_ptr(operand) : nullptr;
  };
  std::string options = type;
  for (const int k : {1, 2, 3, 4}) {
    options += address(k) != nullptr
                   ? c10::str("-DIN", k, "=INPUT(", k, ") ")
                   : c10::str("-DIN", k, "=numbers.", "_abcd"[k], ' ');
  }
  const Operands operands(part);
  launch(source, "pointwise", options + operands.options(), Range::items(part.numel()),
         Address{address(0)}, Address{address(1)}, Address{address(2)},
         Address{address(3)}, Address{address(4)}, numbers, operands, part.numel());
}
// LITERALINCLUDE END: LAUNCH_POINTWISE

}  // namespace

// LITERALINCLUDE START: TAKES
bool takes(const at::TensorIteratorBase& iterator) {
  bool all = iterator.ndim() <= kMaxDims;
  for (const auto operand : c10::irange(iterator.ntensors())) {
    all = all && (iterator.is_cpu_scalar(operand) || supports(iterator.dtype(operand)));
  }
  return all;
}
// LITERALINCLUDE END: TAKES

void for_each_part(at::TensorIteratorBase& iterator,
                   const std::function<void(at::TensorIteratorBase&)>& body) {
  for (const auto operand : c10::irange(iterator.ntensors())) {
    if (!iterator.is_cpu_scalar(operand)) {
      check_storage(iterator.tensor(operand));
    }
  }
  if (iterator.can_use_32bit_indexing()) {
    body(iterator);
    return;
  }
  for (at::TensorIterator& part : iterator.with_32bit_indexing()) {
    body(part);
  }
}

Operands::Operands(const at::TensorIteratorBase& iterator) {
  const bool contiguous = iterator.is_contiguous();
  const int dims = contiguous ? 1 : padded_dims(iterator);
  const int count = iterator.ntensors();
  numbers_.assign(static_cast<size_t>(dims) * (1 + count), 0);
  for (const auto d : c10::irange(dims)) {
    const bool there = d < iterator.ndim();
    numbers_[d] = there ? static_cast<int32_t>(iterator.shape()[d]) : 1;
    for (const auto k : c10::irange(there ? count : 0)) {
      numbers_[dims * (1 + k) + d] = static_cast<int32_t>(iterator.strides(k)[d]);
    }
  }
  options_ = c10::str("-DDIMS=", dims, " -DOPERANDS=", count,
                      contiguous ? " -DCONTIGUOUS " : " ");
  for (const auto k : c10::irange(count)) {
    if (!iterator.is_cpu_scalar(k)) {
      options_ += define(c10::str('T', k).c_str(), iterator.dtype(k));
    }
  }
}

bool pointwise(at::TensorIteratorBase& iterator, const Formula& formula,
               std::initializer_list<at::Scalar> numbers, at::ScalarType dtype) {
  const OclGuard guard(iterator.device(0).index());  // ATen sets none before a stub
  if (dtype == at::ScalarType::Undefined) {
    dtype = dtype_of(iterator);
  }
  if (is_floating(dtype) && formula.floating == nullptr) {
    return false;  // the CPU raises the error of the operator
  }
  const at::ScalarType compute = compute_dtype(dtype);
  if (!takes(iterator) || !supports(dtype) || iterator.ntensors() > 1 + kMaxInputs) {
    return false;
  }
  Numbers values(compute);
  for (const auto k : c10::irange(1, iterator.ntensors())) {
    if (iterator.is_cpu_scalar(k)) {
      check_storage(iterator.tensor(k));  // item() reads what is not there
      // Rounded or wrapped first, as an element of the common dtype would be.
      values.set(k - 1, Number(iterator.tensor(k).to(dtype).item(), compute));
    }
  }
  size_t index = kMaxInputs;
  for (const at::Scalar& number : numbers) {
    values.set(index++, Number(number, compute));
  }
  const std::string type =
      define("C", compute) + (is_floating(dtype) ? "-DFLOATING " : "") +
      (compute == at::kFloat ? "-cl-single-precision-constant " : "");
  const Source source{kPointwise, text_of(formula, dtype)};
  for_each_part(iterator, [&](at::TensorIteratorBase& part) {
    launch_pointwise(part, source, type, values);
  });
  return true;
}

}  // namespace ocl::opencl
