// Padding by reflection and replication; see docs/operators/structured.md.
#include "csrc/aten/NativeLayers.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/reflection_pad2d.h>
#include <ATen/ops/reflection_pad2d_backward.h>
#include <ATen/ops/reflection_pad3d.h>
#include <ATen/ops/reflection_pad3d_backward.h>
#include <ATen/ops/replication_pad2d.h>
#include <ATen/ops/replication_pad2d_backward.h>
#include <ATen/ops/replication_pad3d.h>
#include <ATen/ops/replication_pad3d_backward.h>

#include "csrc/kernels/cpu/Functions.h"
#include "csrc/aten/launch/LaunchOut.h"
#include "csrc/aten/launch/OptionalTensor.h"
#include "csrc/aten/ops/HostCheck.h"

namespace openreg {
namespace {

// The last dimension is the first in `padding`.
c10::DimVector padded(const at::Tensor& self, at::IntArrayRef padding) {
  c10::DimVector sizes(self.sizes());
  for (size_t index = 0; index < padding.size(); ++index) {
    sizes[sizes.size() - 1 - index / 2] += padding[index];
  }
  return sizes;
}

// Of `self` with kDims dimensions, a channel, and perhaps a batch.
template <int64_t kDims>
bool fit(const at::Tensor& self, at::IntArrayRef padding) {
  const int64_t batch = self.dim() - kDims - 1;
  if (padding.size() != 2 * kDims || (batch != 0 && batch != 1) ||
      !has_elements(self, batch) || !none_below(padding, 0)) {
    return false;
  }
  for (size_t index = 0; index < padding.size(); ++index) {
    if (padding[index] >= self.size(-1 - static_cast<int64_t>(index / 2))) {
      return false;
    }
  }
  return true;
}

using PadFunction = at::Tensor(const at::Tensor&, at::IntArrayRef);
using GradFunction = at::Tensor(const at::Tensor&, const at::Tensor&, at::IntArrayRef);

template <const char* kName, int64_t kDims, PadFunction* kFunction>
struct Pad {
  static at::Tensor functional(const at::Tensor& self, at::IntArrayRef padding) {
    check_arguments(fit<kDims>(self, padding),
                    [&] { kFunction(zeros_for(self), padding); });
    const at::Tensor out =
        at::empty(padded(self, padding), self.options(), format_of(self, kDims + 2));
    launch_out(kName, cpu::out_variant<kFunction>, std::array{out}, self, padding);
    return out;
  }

  static at::Tensor& out(const at::Tensor& self, at::IntArrayRef padding,
                         at::Tensor& out) {
    return write_out(functional(self, padding), out);
  }
};

template <const char* kName, int64_t kDims, GradFunction* kFunction>
struct PadBackward {
  static at::Tensor functional(const at::Tensor& grad_output, const at::Tensor& self,
                               at::IntArrayRef padding) {
    check_same_device(kName, grad_output, self);
    check_arguments(
        fit<kDims>(self, padding) && grad_output.sizes() == padded(self, padding) &&
            grad_output.scalar_type() == self.scalar_type(),
        [&] { kFunction(zeros_for(grad_output), zeros_for(self), padding); });
    const at::Tensor grad_input = at::empty_like(self, format_of(self, kDims + 2));
    launch_out(kName, cpu::out_variant<kFunction>, std::array{grad_input}, grad_output, self,
               padding);
    return grad_input;
  }

  static at::Tensor& out(const at::Tensor& grad_output, const at::Tensor& self,
                         at::IntArrayRef padding, at::Tensor& grad_input) {
    return write_out(functional(grad_output, self, padding), grad_input);
  }
};

constexpr char kReflection2d[] = "reflection_pad2d";
constexpr char kReflection3d[] = "reflection_pad3d";
constexpr char kReplication2d[] = "replication_pad2d";
constexpr char kReplication3d[] = "replication_pad3d";
constexpr char kReflection2dBackward[] = "reflection_pad2d_backward";
constexpr char kReflection3dBackward[] = "reflection_pad3d_backward";
constexpr char kReplication2dBackward[] = "replication_pad2d_backward";
constexpr char kReplication3dBackward[] = "replication_pad3d_backward";

template <const char* kName, int64_t kDims, PadFunction* kFunction>
void pad(torch::Library& m) {
  using All = Pad<kName, kDims, kFunction>;
  m.impl(kName, &All::functional);
  m.impl((std::string(kName) + ".out").c_str(), &All::out);
}

template <const char* kName, int64_t kDims, GradFunction* kFunction>
void pad_backward(torch::Library& m) {
  using All = PadBackward<kName, kDims, kFunction>;
  m.impl(kName, &All::functional);
  m.impl((std::string(kName) + ".grad_input").c_str(), &All::out);
}

}  // namespace

void register_padding(torch::Library& m) {
  pad<kReflection2d, 2, at::reflection_pad2d>(m);
  pad<kReflection3d, 3, at::reflection_pad3d>(m);
  pad<kReplication2d, 2, at::replication_pad2d>(m);
  pad<kReplication3d, 3, at::replication_pad3d>(m);
  pad_backward<kReflection2dBackward, 2, at::reflection_pad2d_backward>(m);
  pad_backward<kReflection3dBackward, 3, at::reflection_pad3d_backward>(m);
  pad_backward<kReplication2dBackward, 2, at::replication_pad2d_backward>(m);
  pad_backward<kReplication3dBackward, 3, at::replication_pad3d_backward>(m);
}

}  // namespace openreg
