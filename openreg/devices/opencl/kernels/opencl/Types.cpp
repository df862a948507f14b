// Which dtypes kernels in OpenCL C take; see docs/opencl/kernels.md.
#include "csrc/kernels/opencl/Types.h"

#include <oclrt_kernel.h>

#include <algorithm>
#include <cstring>

#include "csrc/runtime/errors/OclException.h"

namespace ocl::opencl {
namespace {

template <class T>
size_t put(std::byte* to, const at::Scalar& number) {
  const T value = number.to<T>();
  std::memcpy(to, &value, sizeof(value));
  return sizeof(value);
}

size_t put_number(std::byte* to, const at::Scalar& number, at::ScalarType dtype) {
  switch (dtype) {
    case at::kDouble:
      return put<double>(to, number);
    case at::kLong:
      return put<int64_t>(to, number);
    case at::kInt:
      return put<int32_t>(to, number);
    case at::kShort:
      return put<int16_t>(to, number);
    case at::kChar:
      return put<int8_t>(to, number);
    case at::kByte:
      return put<uint8_t>(to, number);
    case at::kBool:
      return put<bool>(to, number);
    case at::kUInt16:
      return put<uint16_t>(to, number);
    case at::kUInt32:
      return put<uint32_t>(to, number);
    case at::kUInt64:
      return put<uint64_t>(to, number);
    default: {  // not to<float>(): 1e300 and pi are numbers for a float32 tensor
      const auto value = static_cast<float>(number.to<double>());
      std::memcpy(to, &value, sizeof(value));
      return sizeof(value);
    }
  }
}

}  // namespace

const char* tag(at::ScalarType dtype) {
  switch (dtype) {
    case at::kBool:
      return "b8";
    case at::kByte:
      return "u8";
    case at::kUInt16:
      return "u16";
    case at::kUInt32:
      return "u32";
    case at::kUInt64:
      return "u64";
    case at::kChar:
      return "i8";
    case at::kShort:
      return "i16";
    case at::kInt:
      return "i32";
    case at::kLong:
      return "i64";
    case at::kHalf:
      return "f16";
    case at::kBFloat16:
      return "bf16";
    case at::kFloat:
      return "f32";
    case at::kDouble:
      return "f64";
    default:
      return nullptr;
  }
}

bool supports(at::ScalarType dtype) {
  if (dtype != at::kDouble) {
    return tag(dtype) != nullptr;
  }
  int device = 0;
  OCL_CHECK(orGetDevice(&device));
  orClDeviceAbility ability{};
  OCL_CHECK(orClGetDeviceAbility(&ability, device));
  return ability.fp64 != 0;
}

bool supports(std::initializer_list<at::Tensor> tensors) {
  return std::all_of(tensors.begin(), tensors.end(), [](const at::Tensor& tensor) {
    return !tensor.defined() || supports(tensor.scalar_type());
  });
}

std::string define(const char* macro, at::ScalarType dtype) {
  return std::string("-D") + macro + "=" + tag(dtype) + " ";
}

bool is_floating(at::ScalarType dtype) { return at::isFloatingType(dtype); }

at::ScalarType compute_dtype(at::ScalarType dtype) {
  return at::isReducedFloatingType(dtype) ? at::kFloat : dtype;
}

Number::Number(const at::Scalar& number, at::ScalarType dtype)
    : size_(put_number(bytes_.data(), number, dtype)) {}

}  // namespace ocl::opencl
