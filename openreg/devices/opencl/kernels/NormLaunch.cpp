// Launches of normalizations; see docs/opencl/kernels.md.
#include "csrc/kernels/NormLaunch.h"

#include <algorithm>

#include "csrc/kernels/NormSource.h"

namespace ocl::kernels::norm {
namespace {

using at::Tensor;
using opencl::define;
using opencl::launch;
using opencl::Number;
using opencl::Range;

const char* name(Kind kind) {
  return kind == Kind::Layer ? "-DLAYER" : kind == Kind::Group ? "-DGROUP" : "-DBATCH";
}

std::string options(Kind kind, const Tensor& input, const Tensor& statistics,
                    at::ScalarType parameter, bool given, int64_t items) {
  return define("T", input.scalar_type()) + define("W", parameter) +
         define("S", statistics.defined() ? statistics.scalar_type() : parameter) +
         name(kind) + (given ? " -DGIVEN=1" : " -DGIVEN=0") +
         " -DITEMS=" + std::to_string(items);
}

at::ScalarType dtype_of_first(std::initializer_list<Tensor> tensors) {
  for (const Tensor& tensor : tensors) {
    if (tensor.defined()) {
      return tensor.scalar_type();
    }
  }
  return at::kFloat;
}

Tensor dense(const Tensor& tensor) {
  return tensor.defined() ? tensor.contiguous() : tensor;
}

// The output itself, if kernels can write to it, else a temporary one.
Tensor dense_output(const Tensor& out) {
  return !out.defined() || out.is_contiguous() ? out : out.contiguous();
}

void copy_back(const Tensor& out, const Tensor& temporary) {
  if (out.defined() && !out.is_same(temporary)) {
    out.copy_(temporary);
  }
}

}  // namespace

Shape layer_shape(int64_t rows, int64_t length) {
  return {rows, length, length, length, 0, 1, 0, 1, length, rows};
}

Shape group_shape(int64_t batch, int64_t channels, int64_t spatial, int64_t groups) {
  const int64_t per_group = channels / groups, length = per_group * spatial;
  return {batch * groups, length,    length,  length,   0,
          groups,         per_group, spatial, channels, batch * spatial};
}

Shape batch_shape(const Tensor& input) {
  const int64_t channels = input.size(1);
  const int64_t spatial = channels == 0 || input.size(0) == 0
                              ? 0
                              : input.numel() / input.size(0) / channels;
  return {channels,
          input.size(0) * spatial,
          spatial,
          std::max<int64_t>(spatial, 1),
          channels * spatial,
          channels,
          1,
          1,
          channels,
          0};
}

bool normalize(Kind kind, const Shape& shape, const Tensor& input, const Tensor& weight,
               const Tensor& bias, const Running& running, double eps,
               const Tensor& out, const Tensor& mean, const Tensor& rstd) {
  if (!opencl::supports({input, weight, bias, mean})) {
    return false;
  }
  const at::ScalarType value = opencl::compute_dtype(input.scalar_type());
  const Tensor x = input.contiguous();
  const Tensor y = dense_output(out), means = dense_output(mean);
  const Tensor rstds = dense_output(rstd);
  const Tensor run_mean = dense_output(running.mean);
  const Tensor run_var = dense_output(running.var);
  const auto statistics = [&](const Tensor& run) {  // given ones are only read
    return running.given ? opencl::argument(run) : opencl::writes(run);
  };
  const int64_t items = Range::kGroup;
  launch(kNorm, "normalize_rows",
         options(kind, input, running.given ? running.mean : mean,
                 dtype_of_first({weight, bias, mean}), running.given, items),
         Range::groups(shape.rows, items), opencl::writes(y), opencl::writes(means),
         opencl::writes(rstds), statistics(run_mean), statistics(run_var), x,
         dense(weight), dense(bias), Number(eps, value),
         Number(running.momentum, value), shape);
  copy_back(out, y);
  copy_back(mean, means);
  copy_back(rstd, rstds);
  if (!running.given) {
    copy_back(running.mean, run_mean);
    copy_back(running.var, run_var);
  }
  return true;
}

bool differentiate(Kind kind, const Shape& shape, const Tensor& grad,
                   const Tensor& input, const Tensor& mean, const Tensor& rstd,
                   const Tensor& weight, bool given, double eps,
                   const std::array<Tensor, 3>& grads) {
  if (!opencl::supports({grad, input, weight, mean, grads[1], grads[2]})) {
    return false;
  }
  const at::ScalarType value = opencl::compute_dtype(input.scalar_type());
  const at::ScalarType parameter = dtype_of_first({grads[1], grads[2], weight, mean});
  const Tensor g = grad.contiguous(), x = input.contiguous();
  const Tensor means = mean.contiguous(), rstds = rstd.contiguous();
  const std::array<Tensor, 3> to{dense_output(grads[0]), dense_output(grads[1]),
                                 dense_output(grads[2])};
  const int64_t group = Range::kGroup;
  if (shape.rows > 0 && (to[0].defined() || kind == Kind::Batch)) {
    launch(kNorm, "differentiate", options(kind, input, mean, parameter, given, group),
           Range::groups(shape.rows, group), opencl::writes(to[0]),
           opencl::writes(to[1]), opencl::writes(to[2]), g, x, means, rstds,
           dense(weight), Number(eps, value), shape);
  }
  if (kind != Kind::Batch && (to[1].defined() || to[2].defined())) {
    const int64_t items = kind == Kind::Layer ? 1 : group;
    launch(kNorm, "parameters", options(kind, input, mean, parameter, given, items),
           Range::items(shape.parameters * items), opencl::writes(to[1]),
           opencl::writes(to[2]), g, x, means, rstds, shape);
  }
  for (const size_t i : {0, 1, 2}) {
    copy_back(grads[i], to[i]);
  }
  return true;
}

}  // namespace ocl::kernels::norm
