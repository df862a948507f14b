// Pooling in OpenCL C; see docs/opencl/kernels.md.
//
// Options: T is the tag of the dtype. ADAPTIVE windows divide the input evenly.
#pragma once

#include "csrc/kernels/opencl/Launch.h"

namespace ocl::kernels::pool {

// One work item for each element that is written: gradients are collected from all
// windows that contain the element, so no two work items add to the same one.
inline constexpr opencl::Source kPooling{R"(
typedef COMPUTE(T) Value;
// Of images of three dimensions; strides are of image, channel, z, y, x.
typedef struct {
  long count, channels, in_size[3], out_size[3], kernel_[3], stride[3], padding[3],
      dilation[3], in[5], out[5], indices[5], divisor, include_padding;
} Shape;
typedef struct { int image, channel, at[3]; } Place;

static Place find_place(long n, long channels, const long* size) {
  Place place;
  for (int d = 2; d >= 0; --d) {
    place.at[d] = n % size[d];
    n /= size[d];
  }
  place.channel = n % channels;
  place.image = n / channels;
  return place;
}
static long offset_of(const long* strides, Place p, int z, int y, int x) {
  return p.image * strides[0] + p.channel * strides[1] + z * strides[2] +
         y * strides[3] + x * strides[4];
}

// The elements of an input that output `o` is computed from.
typedef struct { int first, last, step, area; } Window;
static Window find_window(const Shape* s, int d, int o) {
  Window w;
  const int size = s->in_size[d];
#ifdef ADAPTIVE
  w.first = o * s->in_size[d] / s->out_size[d];
  w.last = ((o + 1) * s->in_size[d] + s->out_size[d] - 1) / s->out_size[d];
  w.step = 1;
  w.area = w.last - w.first;
#else
  w.step = s->dilation[d];
  w.first = o * s->stride[d] - s->padding[d];
  w.last = w.first + (s->kernel_[d] - 1) * w.step + 1;
  w.area = min(w.last, size + (int)s->padding[d]) - w.first;
  if (w.first < 0) {
    w.first += (-w.first + w.step - 1) / w.step * w.step;
  }
  w.last = min(w.last, size);
#endif
  return w;
}
// The outputs whose windows may contain element `at`.
static Window find_outputs(const Shape* s, int d, int at) {
  Window w;
#ifdef ADAPTIVE
  w.first = at * s->out_size[d] / s->in_size[d];
  w.last = ((at + 1) * s->out_size[d] + s->in_size[d] - 1) / s->in_size[d];
#else
  const int padded = at + s->padding[d];
  const int before = padded - (s->kernel_[d] - 1) * s->dilation[d];
  w.first = before <= 0 ? 0 : (before + s->stride[d] - 1) / s->stride[d];
  w.last = padded / s->stride[d] + 1;
#endif
  w.last = min(w.last, (int)s->out_size[d]);
  return w;
}
static long divisor_of(const Shape* s, Window z, Window y, Window x) {
  if (s->divisor) {
    return s->divisor;
  }
  if (s->include_padding) {
    return (long)z.area * y.area * x.area;
  }
  return (long)(z.last - z.first) * (y.last - y.first) * (x.last - x.first);
}
#define FOR_ALL(z, y, x, step_z, step_y, step_x, wz, wy, wx) \
  for (int z = wz.first; z < wz.last; z += step_z)           \
    for (int y = wy.first; y < wy.last; y += step_y)         \
      for (int x = wx.first; x < wx.last; x += step_x)

kernel void forward(global void* out, global void* indices, global const void* in,
                    const Shape s) {
  const long n = get_global_id(0);
  if (n >= s.count) {
    return;
  }
  const Place p = find_place(n, s.channels, s.out_size);
  const Window wz = find_window(&s, 0, p.at[0]), wy = find_window(&s, 1, p.at[1]),
               wx = find_window(&s, 2, p.at[2]);
  const long to = offset_of(s.out, p, p.at[0], p.at[1], p.at[2]);
#ifdef MAX
  long most_at = -1;
  Value most = 0;
#else
  Value sum = 0;
#endif
  FOR_ALL(z, y, x, wz.step, wy.step, wx.step, wz, wy, wx) {
    const Value v = LOAD(T, in, offset_of(s.in, p, z, y, x));
#ifdef MAX
    if (most_at < 0 || v > most || v != v) {
      most = v;
      most_at = ((long)z * s.in_size[1] + y) * s.in_size[2] + x;
    }
#else
    sum += v;
#endif
  }
#ifdef MAX
  STORE(T, out, to, most);
  STORE(i64, indices, offset_of(s.indices, p, p.at[0], p.at[1], p.at[2]), most_at);
#else
  const int is_empty =
      wz.first >= wz.last || wy.first >= wy.last || wx.first >= wx.last;
  STORE(T, out, to, is_empty ? 0 : sum / divisor_of(&s, wz, wy, wx));
#endif
}

kernel void backward(global void* in, global const void* indices,
                     global const void* out, const Shape s) {
  const long n = get_global_id(0);
  if (n >= s.count) {
    return;
  }
  const Place p = find_place(n, s.channels, s.in_size);
  const Window oz = find_outputs(&s, 0, p.at[0]), oy = find_outputs(&s, 1, p.at[1]),
               ox = find_outputs(&s, 2, p.at[2]);
  const long here = ((long)p.at[0] * s.in_size[1] + p.at[1]) * s.in_size[2] + p.at[2];
  Value sum = 0;
  FOR_ALL(z, y, x, 1, 1, 1, oz, oy, ox) {
    const Value v = LOAD(T, out, offset_of(s.out, p, z, y, x));
#ifdef MAX
    if (LOAD(i64, indices, offset_of(s.indices, p, z, y, x)) == here) {
      sum += v;
    }
#else
    sum += v / divisor_of(&s, find_window(&s, 0, z), find_window(&s, 1, y),
                          find_window(&s, 2, x));
#endif
  }
  STORE(T, in, offset_of(s.in, p, p.at[0], p.at[1], p.at[2]), sum);
}
)"};

}  // namespace ocl::kernels::pool
