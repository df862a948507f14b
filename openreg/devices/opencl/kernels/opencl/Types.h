// Which dtypes kernels in OpenCL C take, and how they load and store them; see
// docs/opencl/kernels.md.
//
//   if (!supports({out, in})) return false;             // falls back; see Fallback.h
//   launch(kSource, "twice", define("T", in.scalar_type()) + define("O", ...), ...);
//   // in OpenCL C, where T and O are the tags of dtypes (f16, bf16, f32, i64, b8,
//   ...): const COMPUTE(T) value = LOAD(T, pointer, index);  // float for f16 and bf16
//   STORE(O, pointer, index, 2 * value);  // converts from any type, rounds to nearest
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>

namespace ocl::opencl {

// The tag of a dtype in OpenCL C, a type of its size; null if there is none. A b8 is a
// bool, u8 to u64 and i8 to i64 are integers.
const char* tag(at::ScalarType dtype);

// Whether the current device has this dtype: float64 needs an extension, complex
// numbers and floating-point numbers of 8 bits have no tag.
bool supports(at::ScalarType dtype);
bool supports(
    std::initializer_list<at::Tensor> tensors);  // undefined ones do not count

// "-DT=f32 " for ("T", kFloat).
std::string define(const char* macro, at::ScalarType dtype);

// Whether it is computed as floating point, and the dtype in which it is: float32 for
// float16 and bfloat16, else itself.
bool is_floating(at::ScalarType dtype);
at::ScalarType compute_dtype(at::ScalarType dtype);

// A number as a kernel takes it, of type COMPUTE(tag of `dtype`). Throws if it does not
// fit.
class Number {
 public:
  Number() = default;
  Number(const at::Scalar& number, at::ScalarType dtype);
  const void* value() const { return bytes_.data(); }
  size_t size() const { return size_; }

 private:
  alignas(8) std::array<std::byte, 8> bytes_{};
  size_t size_ = 0;
};

// What each program starts with.
inline constexpr const char* kTypes = R"(
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double f64;
#define compute_f64 double
#endif
typedef uchar b8;
typedef uchar u8;
typedef ushort u16;
typedef uint u32;
typedef ulong u64;
typedef char i8;
typedef short i16;
typedef int i32;
typedef long i64;
typedef ushort f16;
typedef ushort bf16;
typedef float f32;

#define compute_b8 uchar
#define compute_u8 uchar
#define compute_u16 ushort
#define compute_u32 uint
#define compute_u64 ulong
#define compute_i8 char
#define compute_i16 short
#define compute_i32 int
#define compute_i64 long
#define compute_f16 float
#define compute_bf16 float
#define compute_f32 float

#define PLAIN(T, p, i) (((global const T*)(p))[i])
#define load_b8(p, i) ((uchar)(PLAIN(uchar, p, i) != 0))
#define load_u8(p, i) PLAIN(uchar, p, i)
#define load_u16(p, i) PLAIN(ushort, p, i)
#define load_u32(p, i) PLAIN(uint, p, i)
#define load_u64(p, i) PLAIN(ulong, p, i)
#define load_i8(p, i) PLAIN(char, p, i)
#define load_i16(p, i) PLAIN(short, p, i)
#define load_i32(p, i) PLAIN(int, p, i)
#define load_i64(p, i) PLAIN(long, p, i)
#define load_f16(p, i) vload_half(i, (global const half*)(p))
#define load_bf16(p, i) as_float((uint)PLAIN(ushort, p, i) << 16)
#define load_f32(p, i) PLAIN(float, p, i)
#define load_f64(p, i) PLAIN(double, p, i)

static ushort to_bf16(float v) {
  const uint bits = as_uint(v);
  return isnan(v) ? 0x7fc0 : (ushort)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

#define PUT(T, p, i, v) (((global T*)(p))[i] = (v))
#define store_b8(p, i, v) PUT(uchar, p, i, (uchar)((v) != 0))
#define store_u8(p, i, v) PUT(uchar, p, i, (uchar)(long)(v))
#define store_u16(p, i, v) PUT(ushort, p, i, (ushort)(long)(v))
#define store_u32(p, i, v) PUT(uint, p, i, (uint)(long)(v))
#define store_u64(p, i, v) PUT(ulong, p, i, (ulong)(v))
#define store_i8(p, i, v) PUT(char, p, i, (char)(long)(v))
#define store_i16(p, i, v) PUT(short, p, i, (short)(long)(v))
#define store_i32(p, i, v) PUT(int, p, i, (int)(v))
#define store_i64(p, i, v) PUT(long, p, i, (long)(v))
#define store_f16(p, i, v) vstore_half_rte((float)(v), i, (global half*)(p))
#define store_bf16(p, i, v) PUT(ushort, p, i, to_bf16((float)(v)))
#define store_f32(p, i, v) PUT(float, p, i, (float)(v))
#define store_f64(p, i, v) PUT(double, p, i, (double)(v))

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define COMPUTE(T) JOIN(compute_, T)
#define LOAD(T, p, i) JOIN(load_, T)(p, i)
#define STORE(T, p, i, v) JOIN(store_, T)(p, i, v)
)";

}  // namespace ocl::opencl
