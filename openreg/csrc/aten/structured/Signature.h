// C++ types that follow from the schema of an operator; see
// docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/util/OptionalArrayRef.h>

#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace openreg {

// int64_t for SymInt: kernels get concrete sizes.
template <class T>
struct Concrete {
  using type = T;
};
template <>
struct Concrete<c10::SymInt> {
  using type = int64_t;
};
template <>
struct Concrete<c10::SymIntArrayRef> {
  using type = at::IntArrayRef;
};
template <>
struct Concrete<at::OptionalSymIntArrayRef> {
  using type = at::OptionalIntArrayRef;
};
template <>
struct Concrete<std::optional<c10::SymInt>> {
  using type = std::optional<int64_t>;
};

template <class Result>
constexpr size_t kOutputsOf = 1;
template <class... Results>
constexpr size_t kOutputsOf<std::tuple<Results...>> = sizeof...(Results);

// What follows from the functional form of an operator, `schema` of
// at::_ops::mul_Tensor.
template <class Schema>
struct OpSignature;
template <class Result, class... Args>
struct OpSignature<Result(Args...)> {
  using Arguments = std::tuple<typename Concrete<Args>::type...>;
  using Outputs = std::make_index_sequence<kOutputsOf<Result>>;
};
template <class Op>
using SignatureOf = OpSignature<typename Op::schema>;

template <size_t>
using OutputReference = at::Tensor&;
template <size_t>
using OutputValue = at::Tensor;

// What the form with out= returns: Tensor& or a tuple of them.
template <class Outputs>
struct OutResult;
template <size_t... I>
struct OutResult<std::index_sequence<I...>> {
  using type = std::tuple<OutputReference<I>...>;
};
template <>
struct OutResult<std::index_sequence<0>> {
  using type = at::Tensor&;
};

// The type of at::cpu::mul_outf: the arguments, then the outputs.
template <class Arguments, class Outputs>
struct OutFunction;
template <class... Args, size_t... I>
struct OutFunction<std::tuple<Args...>, std::index_sequence<I...>> {
  using type = typename OutResult<std::index_sequence<I...>>::type(
      Args..., OutputReference<I>...);
};
template <class Op>
using OutFunctionOf = typename OutFunction<typename SignatureOf<Op>::Arguments,
                                           typename SignatureOf<Op>::Outputs>::type;

// "mul" of at::_ops::mul_Tensor: a literal, for errors and traces.
template <class Op>
constexpr const char* kNameOf = Op::name + std::string_view("aten::").size();

// "mul", "Tensor" -> "mul.Tensor", which is never freed: kernels are also launched at
// exit.
const char* overload(const char* name, const char* overload_name);

// "mul.Tensor" of at::_ops::mul_Tensor.
template <class Op>
const char* overload_of() {
  static const char* const text = overload(kNameOf<Op>, Op::overload_name);
  return text;
}

// "mul_.Tensor" of "mul" and "Tensor"; null if torch has no such operator.
const char* inplace_overload(const char* name, const char* overload_name);

}  // namespace openreg
