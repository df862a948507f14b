// Reductions: sums, products, extrema, norms and moments; see docs/opencl/kernels.md.
#include "csrc/aten/meta/Reduce.h"

#include <ATen/Operators.h>
#include <ATen/ops/all_meta.h>
#include <ATen/ops/amax_meta.h>
#include <ATen/ops/amin_meta.h>
#include <ATen/ops/aminmax_meta.h>
#include <ATen/ops/any_meta.h>
#include <ATen/ops/argmax_meta.h>
#include <ATen/ops/argmin_meta.h>
#include <ATen/ops/linalg_vector_norm_meta.h>
#include <ATen/ops/max_meta.h>
#include <ATen/ops/mean_meta.h>
#include <ATen/ops/min_meta.h>
#include <ATen/ops/norm_meta.h>
#include <ATen/ops/prod_meta.h>
#include <ATen/ops/sum_meta.h>

#include "csrc/aten/meta/Moments.h"
#include "csrc/kernels/ReduceLaunch.h"
#include "csrc/kernels/opencl/Fallback.h"
#include "csrc/kernels/opencl/Types.h"

namespace ocl::kernels::reduce {
namespace {

namespace op = at::_ops;
namespace meta = at::meta;
using at::OptionalIntArrayRef;
using at::Scalar;
using at::Tensor;
using opencl::structured_or_fall_back;
using opencl::structured_or_fall_back_without_out;
using OptionalDtype = std::optional<at::ScalarType>;

// A name of ReduceSource.h as a template argument.
template <size_t kSize>
struct Name {
  char text[kSize];
  constexpr Name(const char (&name)[kSize]) { std::copy_n(name, kSize, text); }
};

// Integers are added and multiplied in 64 bits.
at::ScalarType sum_dtype(const Tensor& out) {
  const at::ScalarType dtype = out.scalar_type();
  return opencl::is_floating(dtype) ? opencl::compute_dtype(dtype)
         : dtype == at::kUInt64     ? at::kUInt64
                                    : at::kLong;
}

template <Name kName>
bool sum(const Tensor& self, OptionalIntArrayRef dims, bool, OptionalDtype,
         const Tensor& out) {
  return reduce(kName.text, self, dims_of(self, dims), sum_dtype(out), out);
}

bool nansum(const Tensor& self, OptionalIntArrayRef dims, bool, OptionalDtype,
            const Tensor& out) {
  const char* name = self.is_floating_point() ? "NANSUM" : "SUM";
  const bool is_exact = self.is_floating_point() && !out.is_floating_point();
  return !is_exact && reduce(name, self, dims_of(self, dims), sum_dtype(out), out);
}

bool prod(const Tensor& self, int64_t dim, bool, OptionalDtype, const Tensor& out) {
  const bool is_bool = out.scalar_type() == at::kBool;
  return reduce("PROD", self, dims_of(self, dim), is_bool ? at::kBool : sum_dtype(out),
                out);
}

bool count_nonzero(const Tensor& self, at::IntArrayRef dims, const Tensor& out) {
  return reduce("COUNT", self, dims_of(self, OptionalIntArrayRef(dims)), at::kLong,
                out);
}

template <Name kName>
struct Truth {
  bool operator()(const Tensor& self, const Tensor& out) const {
    return reduce(kName.text, self, dims_of(self, OptionalIntArrayRef()), at::kByte,
                  out);
  }
  template <class Dim>
  bool operator()(const Tensor& self, const Dim& dim, bool, const Tensor& out) const {
    Dims dims = dims_of(self, dim);
    if constexpr (std::is_same_v<Dim, OptionalIntArrayRef>) {
      dims = dim.has_value() && dim->empty() ? Dims() : dims;  // only converts
    }
    return reduce(kName.text, self, dims, at::kByte, out);
  }
};

at::ScalarType own_dtype(const Tensor& self) {
  return opencl::compute_dtype(self.scalar_type());
}

template <Name kName>
bool extremum(const Tensor& self, const Tensor& out) {
  return reduce(kName.text, self, dims_of(self, OptionalIntArrayRef()), own_dtype(self),
                out);
}

template <Name kName>
bool extremum_of_dims(const Tensor& self, at::IntArrayRef dims, bool,
                      const Tensor& out) {
  return reduce(kName.text, self, dims_of(self, OptionalIntArrayRef(dims)),
                own_dtype(self), out);
}

template <Name kName>
bool extremum_and_place(const Tensor& self, int64_t dim, bool, const Tensor& values,
                        const Tensor& indices) {
  return reduce(kName.text, self, dims_of(self, dim), own_dtype(self), values, indices);
}

template <Name kName>
bool place(const Tensor& self, std::optional<int64_t> dim, bool, const Tensor& out) {
  return reduce(kName.text, self, dims_of(self, dim), own_dtype(self), {}, out);
}

bool both_extrema(const Tensor& self, std::optional<int64_t> dim, bool,
                  const Tensor& least, const Tensor& most) {
  return reduce("MIN_MAX", self, dims_of(self, dim), own_dtype(self), least, most);
}

bool norm(const Tensor& self, const Scalar& order, OptionalIntArrayRef dims,
          const Tensor& out) {
  if (!out.is_floating_point()) {
    return false;
  }
  const double p = order.toDouble();
  const char* name = p == 0                                          ? "NORM_0"
                     : p == 1                                        ? "NORM_1"
                     : p == 2                                        ? "NORM_2"
                     : p == std::numeric_limits<double>::infinity()  ? "NORM_MAX"
                     : p == -std::numeric_limits<double>::infinity() ? "NORM_MIN"
                                                                     : "NORM_P";
  return reduce(name, self, dims_of(self, dims), sum_dtype(out), out, {}, p);
}

bool vector_norm(const Tensor& self, const Scalar& order, OptionalIntArrayRef dims,
                 bool, OptionalDtype, const Tensor& out) {
  return norm(self, order, dims, out);
}

bool norm_of_dims(const Tensor& self, const std::optional<Scalar>& order,
                  at::IntArrayRef dims, bool, const Tensor& out) {
  return norm(self, order.value_or(2), OptionalIntArrayRef(dims), out);
}

bool norm_with_dtype(const Tensor& self, const std::optional<Scalar>& order,
                     at::IntArrayRef dims, bool, at::ScalarType, const Tensor& out) {
  return norm(self, order.value_or(2), OptionalIntArrayRef(dims), out);
}

bool moments(const char* name, const Tensor& self, OptionalIntArrayRef dims,
             const std::optional<Scalar>& correction, const Tensor& spread,
             const Tensor& mean) {
  if (!self.is_floating_point() || !spread.is_floating_point()) {
    return false;
  }
  const at::ScalarType wide =
      at::promoteTypes(self.scalar_type(), spread.scalar_type());
  return reduce(name, self, dims_of(self, dims), opencl::compute_dtype(wide), spread,
                mean, correction.value_or(1));
}

template <Name kName>
bool spread(const Tensor& self, OptionalIntArrayRef dims,
            const std::optional<Scalar>& correction, bool, const Tensor& out) {
  return moments(kName.text, self, dims, correction, out, {});
}

template <Name kName>
bool spread_and_mean(const Tensor& self, OptionalIntArrayRef dims,
                     const std::optional<Scalar>& correction, bool, const Tensor& out,
                     const Tensor& mean) {
  return moments(kName.text, self, dims, correction, out, mean);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured_or_fall_back<op::sum_dim_IntList, op::sum_IntList_out,
                          meta::structured_sum_dim_IntList>(m, sum<"SUM">);
  structured_or_fall_back<op::mean_dim, op::mean_out, meta::structured_mean_dim>(
      m, sum<"MEAN">);
  structured_or_fall_back<op::nansum, op::nansum_out, Nansum>(m, nansum);
  structured_or_fall_back<op::prod_dim_int, op::prod_int_out,
                          meta::structured_prod_dim_int>(m, prod);
  structured_or_fall_back_without_out<op::count_nonzero_dim_IntList, CountNonzero>(
      m, count_nonzero);

  structured_or_fall_back<op::all, op::all_all_out, meta::structured_all>(
      m, Truth<"ALL">());
  structured_or_fall_back<op::all_dim, op::all_out, meta::structured_all_dim>(
      m, Truth<"ALL">());
  structured_or_fall_back<op::all_dims, op::all_dims_out, meta::structured_all_dims>(
      m, Truth<"ALL">());
  structured_or_fall_back<op::any, op::any_all_out, meta::structured_any>(
      m, Truth<"ANY">());
  structured_or_fall_back<op::any_dim, op::any_out, meta::structured_any_dim>(
      m, Truth<"ANY">());
  structured_or_fall_back<op::any_dims, op::any_dims_out, meta::structured_any_dims>(
      m, Truth<"ANY">());

  structured_or_fall_back<op::max, op::max_unary_out, Max>(m, extremum<"MAX">);
  structured_or_fall_back<op::min, op::min_unary_out, Min>(m, extremum<"MIN">);
  structured_or_fall_back<op::amax, op::amax_out, meta::structured_amax>(
      m, extremum_of_dims<"MAX">);
  structured_or_fall_back<op::amin, op::amin_out, meta::structured_amin>(
      m, extremum_of_dims<"MIN">);
  structured_or_fall_back<op::aminmax, op::aminmax_out, meta::structured_aminmax>(
      m, both_extrema);
  structured_or_fall_back<op::max_dim, op::max_dim_max, meta::structured_max_dim>(
      m, extremum_and_place<"MAX">);
  structured_or_fall_back<op::min_dim, op::min_dim_min, meta::structured_min_dim>(
      m, extremum_and_place<"MIN">);
  structured_or_fall_back<op::argmax, op::argmax_out, meta::structured_argmax>(
      m, place<"MAX">);
  structured_or_fall_back<op::argmin, op::argmin_out, meta::structured_argmin>(
      m, place<"MIN">);

  structured_or_fall_back<op::linalg_vector_norm, op::linalg_vector_norm_out,
                          meta::structured_linalg_vector_norm>(m, vector_norm);
  structured_or_fall_back<op::norm_ScalarOpt_dim, op::norm_out,
                          meta::structured_norm_ScalarOpt_dim>(m, norm_of_dims);
  structured_or_fall_back<op::norm_ScalarOpt_dim_dtype, op::norm_dtype_out,
                          meta::structured_norm_ScalarOpt_dim_dtype>(m,
                                                                     norm_with_dtype);
  structured_or_fall_back<op::var_correction, op::var_correction_out, Var>(
      m, spread<"VARIANCE">);
  structured_or_fall_back<op::std_correction, op::std_correction_out, Std>(
      m, spread<"DEVIATION">);
  structured_or_fall_back_without_out<op::var_mean_correction, VarMean>(
      m, spread_and_mean<"VARIANCE">);
  structured_or_fall_back_without_out<op::std_mean_correction, StdMean>(
      m, spread_and_mean<"DEVIATION">);
}

}  // namespace ocl::kernels::reduce
