// Structured operators whose CPU kernel, and not their meta function, refuses an output
// that overlaps; see docs/operators/structured.md.
#pragma once

#include <ATen/MemoryOverlap.h>

#include "csrc/aten/native/Structured.h"

namespace openreg {

template <class Forms, class Arguments>
struct DisjointOutput;
template <class Forms, class... Args>
struct DisjointOutput<Forms, std::tuple<Args...>> {
  static at::Tensor& out(Args... args, at::Tensor& out) {
    at::assert_no_internal_overlap(out);
    const auto check = [&](const at::Tensor& input) {
      at::assert_no_partial_overlap(out, input);
    };
    (for_each_tensor(args, check), ...);
    return Forms::out(args..., out);
  }
};

// As structured().
template <class Op, class Out, class Meta,
          typename SignatureOf<Op>::Call::Function* kKernel>
void structured_disjoint(torch::Library& m) {
  using All = FormsOf<Op, Meta, kKernel>;
  using Disjoint = DisjointOutput<All, typename SignatureOf<Op>::Arguments>;
  m.impl(overload(kNameOf<Op>, Op::overload_name).c_str(), &All::functional);
  m.impl(overload(kNameOf<Op>, Out::overload_name).c_str(), &Disjoint::out);
  impl_inplace<Op, All>(m);
}

}  // namespace openreg
