// Registers only the out= form of an operator; see docs/operators/structured.md.
#pragma once

#include <tuple>
#include <utility>

#include "csrc/aten/structured/Structured.h"

namespace openreg {

// The first of some types.
template <class Indices, class Types>
struct First;
template <size_t... I, class Types>
struct First<std::index_sequence<I...>, Types> {
  using type = std::tuple<std::tuple_element_t<I, Types>...>;
};

// What follows from the form with out=, whose last arguments are the outputs.
template <class Schema>
struct OutSignature;
template <class Result, class... All>
struct OutSignature<Result(All...)> {
  using Outputs = std::make_index_sequence<kOutputsOf<Result>>;
  using Arguments =
      typename First<std::make_index_sequence<sizeof...(All) - kOutputsOf<Result>>,
                     std::tuple<typename Concrete<All>::type...>>::type;
};

template <class Arguments, class Outputs>
struct OutForm;
template <class... Args, size_t... I>
struct OutForm<std::tuple<Args...>, std::index_sequence<I...>> {
  using Op = StructuredOp<std::tuple<Args...>, std::index_sequence<I...>>;

  static auto of(const Op* op) {
    return [op](Args... args, OutputReference<I>... outputs) -> typename Op::Reference {
      op->compute(Form::Out, {outputs...}, args...);
      return {outputs...};
    };
  }
};

// As structured(), for `Out` where torch makes the other forms of that one, or of other
// operators.
template <class Out, class Meta, class Kernel>
void structured_out(torch::Library& m, Kernel kernel) {
  using Signature = OutSignature<typename Out::schema>;
  using Arguments = typename Signature::Arguments;
  using Outputs = typename Signature::Outputs;
  using Base = StructuredOp<Arguments, Outputs>;
  static const auto* const op =
      new OperatorWith<Out, Meta, Kernel, Base>(std::move(kernel));
  m.impl(op->op, OutForm<Arguments, Outputs>::of(op));
}

}  // namespace openreg
