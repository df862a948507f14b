// The arithmetic of reductions; see docs/modules/distributed.md.
//
// Compiled with -O3: loops over floats become vector instructions.
#include "occl_reduce.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace openreg::occl {
namespace {

constexpr size_t kBlock = 16 << 10;  // bytes that stay in the first cache

// Storage types of 16 bits. Arithmetic is that of float, rounded to nearest even.
struct Half {
  uint16_t bits;
  operator float() const {
    const uint32_t word = uint32_t{bits} << 16;
    const uint32_t sign = word & 0x80000000u;
    const uint32_t twice = word + word;
    const float normal = std::bit_cast<float>((twice >> 4) + (0xE0u << 23)) * 0x1p-112f;
    const float subnormal = std::bit_cast<float>((twice >> 17) | (126u << 23)) - 0.5f;
    const uint32_t magnitude =
        std::bit_cast<uint32_t>(twice < (1u << 27) ? subnormal : normal);
    return std::bit_cast<float>(sign | magnitude);
  }
  Half() = default;
  Half(float value) {
    const auto word = std::bit_cast<uint32_t>(value);
    const uint32_t twice = word + word;
    const float magnitude = std::bit_cast<float>(word & 0x7FFFFFFFu);
    const uint32_t bias = std::max(twice & 0xFF000000u, 0x71000000u);
    const float shifted = std::bit_cast<float>((bias >> 1) + 0x07800000u) +
                          magnitude * 0x1p+112f * 0x1p-110f;
    const auto rounded = std::bit_cast<uint32_t>(shifted);
    const uint32_t number = ((rounded >> 13) & 0x7C00u) + (rounded & 0x0FFFu);
    bits = static_cast<uint16_t>(((word & 0x80000000u) >> 16) |
                                 (twice > 0xFF000000u ? 0x7E00u : number));
  }
};

struct Bfloat16 {
  uint16_t bits;
  operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
  Bfloat16() = default;
  Bfloat16(float value) {
    const auto word = std::bit_cast<uint32_t>(value);
    const uint32_t rounded = (word + 0x7FFFu + ((word >> 16) & 1)) >> 16;
    bits = static_cast<uint16_t>(value != value ? 0x7FC0u : rounded);
  }
};

// What `T` is computed in. Integers wrap around, so they are unsigned, except to be
// compared.
template <class T>
using Compute =
    std::conditional_t<std::is_class_v<T>, std::type_identity<float>,
                       std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                          std::type_identity<T>>>::type;

template <class T>
T minimum(T a, T b) {
  return a != a || a < b ? a : b != b ? b : std::min(a, b);
}

template <class T>
T maximum(T a, T b) {
  return a != a || a > b ? a : b != b ? b : std::max(a, b);
}

template <class T>
using Compared = std::conditional_t<std::is_class_v<T>, float, T>;

// Calls `use` with the binary function of `op`.
template <class T, class Use>
void with_function(occlRedOp_t op, const Use& use) {
  using C = Compute<T>;
  using M = Compared<T>;
  switch (op) {
    case occlProd:
      // 16-bit integers would be multiplied as int; there are none.
      return use([](T a, T b) { return T(C(a) * C(b)); });
    case occlMax:
      return use([](T a, T b) { return T(maximum<M>(a, b)); });
    case occlMin:
      return use([](T a, T b) { return T(minimum<M>(a, b)); });
    case occlBitAnd:
      if constexpr (std::is_integral_v<T>)
        return use([](T a, T b) { return T(a & b); });
      break;
    case occlBitOr:
      if constexpr (std::is_integral_v<T>)
        return use([](T a, T b) { return T(a | b); });
      break;
    case occlBitXor:
      if constexpr (std::is_integral_v<T>)
        return use([](T a, T b) { return T(a ^ b); });
      break;
    default:  // the sum, and the first half of the average
      return use([](T a, T b) { return T(C(a) + C(b)); });
  }
}

template <class T>
T load(const std::byte* from, size_t index) {
  T value;
  std::memcpy(&value, from + index * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void store(std::byte* to, size_t index, T value) {
  std::memcpy(to + index * sizeof(T), &value, sizeof(T));
}

template <class T>
void reduce_typed(occlRedOp_t op, std::byte* out,
                  const std::vector<const std::byte*>& inputs, size_t bytes) {
  with_function<T>(op, [&](auto function) {
    for (size_t start = 0; start < bytes; start += kBlock) {
      const size_t count = std::min(kBlock, bytes - start) / sizeof(T);
      std::byte* __restrict to = out + start;
      const std::byte* __restrict first = inputs[0] + start;
      const std::byte* __restrict second = inputs[1] + start;
      for (size_t i = 0; i < count; ++i) {
        store<T>(to, i, function(load<T>(first, i), load<T>(second, i)));
      }
      for (size_t rank = 2; rank < inputs.size(); ++rank) {
        const std::byte* __restrict next = inputs[rank] + start;
        for (size_t i = 0; i < count; ++i) {
          store<T>(to, i, function(load<T>(to, i), load<T>(next, i)));
        }
      }
    }
  });
  if (op != occlAvg) return;
  using M = Compared<T>;
  const auto divisor = static_cast<M>(inputs.size());
  for (size_t i = 0; i < bytes / sizeof(T); ++i) {
    store<T>(out, i, T(M(load<T>(out, i)) / divisor));
  }
}

struct TypeInfo {
  const char* name;
  size_t size;
};

constexpr TypeInfo kTypes[] = {
    {"int8", 1},   {"uint8", 1},   {"int32", 4},   {"uint32", 4},  {"int64", 8},
    {"uint64", 8}, {"float16", 2}, {"float32", 4}, {"float64", 8}, {"bfloat16", 2}};
constexpr const char* kOperations[] = {"sum",     "product", "maximum", "minimum",
                                       "average", "and",     "or",      "xor"};

}  // namespace

bool is_valid(occlDataType_t dtype) {
  return dtype >= occlInt8 && dtype <= occlBfloat16;
}

bool can_reduce(occlRedOp_t op, occlDataType_t dtype) {
  const bool bits = op >= occlBitAnd && op <= occlBitXor;
  return is_valid(dtype) && op >= occlSum && op <= occlBitXor &&
         (!bits || dtype < occlFloat16);
}

size_t size_of(occlDataType_t dtype) { return kTypes[dtype].size; }
const char* name_of(occlDataType_t dtype) { return kTypes[dtype].name; }
const char* name_of(occlRedOp_t op) { return kOperations[op]; }

void reduce(occlDataType_t dtype, occlRedOp_t op, std::byte* out,
            const std::vector<const std::byte*>& inputs, size_t bytes) {
  if (inputs.size() == 1) {
    std::memcpy(out, inputs[0], bytes);
    return;
  }
  switch (dtype) {
    case occlInt8:
      return reduce_typed<int8_t>(op, out, inputs, bytes);
    case occlUint8:
      return reduce_typed<uint8_t>(op, out, inputs, bytes);
    case occlInt32:
      return reduce_typed<int32_t>(op, out, inputs, bytes);
    case occlUint32:
      return reduce_typed<uint32_t>(op, out, inputs, bytes);
    case occlInt64:
      return reduce_typed<int64_t>(op, out, inputs, bytes);
    case occlUint64:
      return reduce_typed<uint64_t>(op, out, inputs, bytes);
    case occlFloat16:
      return reduce_typed<Half>(op, out, inputs, bytes);
    case occlFloat32:
      return reduce_typed<float>(op, out, inputs, bytes);
    case occlFloat64:
      return reduce_typed<double>(op, out, inputs, bytes);
    case occlBfloat16:
      return reduce_typed<Bfloat16>(op, out, inputs, bytes);
  }
}

}  // namespace openreg::occl
