// Registers pooling, padding, sampling and interpolation without a structured meta
// function, and the rarer ones that have one; see docs/operators/structured.md.
#include <ATen/CPUFunctions.h>
#include <ATen/Operators.h>
#include <ATen/native/FractionalMaxPooling.h>
#include <ATen/ops/_upsample_bicubic2d_aa.h>
#include <ATen/ops/_upsample_bicubic2d_aa_backward.h>
#include <ATen/ops/_upsample_bicubic2d_aa_backward_meta.h>
#include <ATen/ops/_upsample_bicubic2d_aa_meta.h>
#include <ATen/ops/_upsample_bilinear2d_aa.h>
#include <ATen/ops/_upsample_bilinear2d_aa_backward.h>
#include <ATen/ops/_upsample_bilinear2d_aa_backward_meta.h>
#include <ATen/ops/_upsample_bilinear2d_aa_meta.h>
#include <ATen/ops/_upsample_lanczos2d_aa.h>
#include <ATen/ops/_upsample_lanczos2d_aa_backward.h>
#include <ATen/ops/_upsample_lanczos2d_aa_backward_meta.h>
#include <ATen/ops/_upsample_lanczos2d_aa_meta.h>
#include <ATen/ops/_upsample_nearest_exact1d_backward_meta.h>
#include <ATen/ops/_upsample_nearest_exact1d_meta.h>
#include <ATen/ops/_upsample_nearest_exact2d_backward_meta.h>
#include <ATen/ops/_upsample_nearest_exact2d_meta.h>
#include <ATen/ops/_upsample_nearest_exact3d_backward_meta.h>
#include <ATen/ops/_upsample_nearest_exact3d_meta.h>
#include <ATen/ops/adaptive_max_pool3d_backward_meta.h>
#include <ATen/ops/adaptive_max_pool3d_meta.h>
#include <ATen/ops/fractional_max_pool2d_backward_meta.h>
#include <ATen/ops/fractional_max_pool2d_meta.h>
#include <ATen/ops/fractional_max_pool3d_meta.h>

#include "csrc/kernels/cpu/Functions.h"
#include "csrc/kernels/cpu/OnCpu.h"

namespace openreg {

namespace op = at::_ops;
namespace meta = at::meta;

namespace {

using Upsample = at::Tensor(const at::Tensor&, at::IntArrayRef, bool,
                            std::optional<double>, std::optional<double>);
using UpsampleBackward = at::Tensor(const at::Tensor&, at::IntArrayRef, at::IntArrayRef,
                                    bool, std::optional<double>, std::optional<double>);

// Torch's meta functions leave the random samples to the kernels.
struct FractionalPool2d : meta::structured_fractional_max_pool2d {
  void meta(const at::Tensor& self, at::IntArrayRef kernel_size,
            at::IntArrayRef output_size, const at::Tensor& random_samples) {
    meta::structured_fractional_max_pool2d::meta(self, kernel_size, output_size,
                                                 random_samples);
    at::native::fractional_max_pool_check_shape<2>(self, random_samples);
  }
};
struct FractionalPool3d : meta::structured_fractional_max_pool3d {
  meta_return_ty meta(const at::Tensor& self, at::IntArrayRef kernel_size,
                      at::IntArrayRef output_size, const at::Tensor& random_samples) {
    meta_return_ty checked = meta::structured_fractional_max_pool3d::meta(
        self, kernel_size, output_size, random_samples);
    at::native::fractional_max_pool_check_shape<3>(self, random_samples);
    return checked;
  }
};

at::Tensor& adaptive_max_pool3d_backward(const at::Tensor& grad, const at::Tensor& self,
                                         const at::Tensor& indices, at::Tensor& out) {
  return at::cpu::adaptive_max_pool3d_backward_outf(grad, self, indices.contiguous(),
                                                    out);
}

// The CPU copies a tensor of any dtype if no size changes, so a trial of such a call
// proves nothing about other calls.
template <class Meta>
struct Filtered : Meta {
  template <class... Args>
  void meta(const at::Tensor& self, const Args&... args) {
    const at::ScalarType dtype = self.scalar_type();
    TORCH_CHECK_NOT_IMPLEMENTED(at::isFloatingType(dtype) || dtype == at::kByte,
                                "antialiased interpolation is not implemented for '",
                                dtype, "'");
    Meta::meta(self, args...);
  }
};

// The kernels of one resampling with a filter, which the CPU has for few dtypes.
template <Upsample* kFunction, auto* kOut>
constexpr auto* kUpsample = cpu::reduced_in_float<kFunction, kOut>;
template <UpsampleBackward* kFunction, auto* kOut>
constexpr auto* kUpsampleBackward = cpu::reduced_in_float<kFunction, kOut>;

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  cpu::on_cpu<
      op::_upsample_bilinear2d_aa, op::_upsample_bilinear2d_aa_out,
      Filtered<meta::structured__upsample_bilinear2d_aa>,
      kUpsample<at::_upsample_bilinear2d_aa, at::cpu::_upsample_bilinear2d_aa_outf>>(m);
  cpu::on_cpu<op::_upsample_bilinear2d_aa_backward,
              op::_upsample_bilinear2d_aa_backward_grad_input,
              Filtered<meta::structured__upsample_bilinear2d_aa_backward>,
              kUpsampleBackward<at::_upsample_bilinear2d_aa_backward,
                                at::cpu::_upsample_bilinear2d_aa_backward_outf>>(m);
  cpu::on_cpu<
      op::_upsample_bicubic2d_aa, op::_upsample_bicubic2d_aa_out,
      Filtered<meta::structured__upsample_bicubic2d_aa>,
      kUpsample<at::_upsample_bicubic2d_aa, at::cpu::_upsample_bicubic2d_aa_outf>>(m);
  cpu::on_cpu<op::_upsample_bicubic2d_aa_backward,
              op::_upsample_bicubic2d_aa_backward_grad_input,
              Filtered<meta::structured__upsample_bicubic2d_aa_backward>,
              kUpsampleBackward<at::_upsample_bicubic2d_aa_backward,
                                at::cpu::_upsample_bicubic2d_aa_backward_outf>>(m);
  cpu::on_cpu<
      op::_upsample_lanczos2d_aa, op::_upsample_lanczos2d_aa_out,
      Filtered<meta::structured__upsample_lanczos2d_aa>,
      kUpsample<at::_upsample_lanczos2d_aa, at::cpu::_upsample_lanczos2d_aa_outf>>(m);
  cpu::on_cpu<op::_upsample_lanczos2d_aa_backward,
              op::_upsample_lanczos2d_aa_backward_grad_input,
              Filtered<meta::structured__upsample_lanczos2d_aa_backward>,
              kUpsampleBackward<at::_upsample_lanczos2d_aa_backward,
                                at::cpu::_upsample_lanczos2d_aa_backward_outf>>(m);
  cpu::on_cpu<op::_upsample_nearest_exact1d, op::_upsample_nearest_exact1d_out,
              meta::structured__upsample_nearest_exact1d,
              at::cpu::_upsample_nearest_exact1d_outf>(m);
  cpu::on_cpu<op::_upsample_nearest_exact1d_backward,
              op::_upsample_nearest_exact1d_backward_grad_input,
              meta::structured__upsample_nearest_exact1d_backward,
              at::cpu::_upsample_nearest_exact1d_backward_outf>(m);
  cpu::on_cpu<op::_upsample_nearest_exact2d, op::_upsample_nearest_exact2d_out,
              meta::structured__upsample_nearest_exact2d,
              at::cpu::_upsample_nearest_exact2d_outf>(m);
  cpu::on_cpu<op::_upsample_nearest_exact2d_backward,
              op::_upsample_nearest_exact2d_backward_grad_input,
              meta::structured__upsample_nearest_exact2d_backward,
              at::cpu::_upsample_nearest_exact2d_backward_outf>(m);
  cpu::on_cpu<op::_upsample_nearest_exact3d, op::_upsample_nearest_exact3d_out,
              meta::structured__upsample_nearest_exact3d,
              at::cpu::_upsample_nearest_exact3d_outf>(m);
  cpu::on_cpu<op::_upsample_nearest_exact3d_backward,
              op::_upsample_nearest_exact3d_backward_grad_input,
              meta::structured__upsample_nearest_exact3d_backward,
              at::cpu::_upsample_nearest_exact3d_backward_outf>(m);
  cpu::on_cpu<op::adaptive_max_pool3d, op::adaptive_max_pool3d_out,
              meta::structured_adaptive_max_pool3d, at::cpu::adaptive_max_pool3d_outf>(
      m);
  cpu::on_cpu<
      op::adaptive_max_pool3d_backward, op::adaptive_max_pool3d_backward_grad_input,
      meta::structured_adaptive_max_pool3d_backward, adaptive_max_pool3d_backward>(m);
  cpu::on_cpu<op::fractional_max_pool2d, op::fractional_max_pool2d_output,
              FractionalPool2d, at::cpu::fractional_max_pool2d_outf>(m);
  cpu::on_cpu<op::fractional_max_pool2d_backward,
              op::fractional_max_pool2d_backward_grad_input,
              meta::structured_fractional_max_pool2d_backward,
              at::cpu::fractional_max_pool2d_backward_outf>(m);
  cpu::on_cpu<op::fractional_max_pool3d, op::fractional_max_pool3d_output,
              FractionalPool3d, at::cpu::fractional_max_pool3d_outf>(m);
}

}  // namespace openreg
