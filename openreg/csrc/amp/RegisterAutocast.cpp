// Which dtype each operator computes in under autocast; see docs/modules/amp.md.
#include <ATen/Operators.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/norm.h>
#include <torch/library.h>

namespace openreg {
namespace {

// LITERALINCLUDE START: AUTOCAST_BANNED
at::Tensor refuse_binary_cross_entropy(const at::Tensor&, const at::Tensor&,
                                       const std::optional<at::Tensor>&, int64_t) {
  C10_THROW_ERROR(
      NotImplementedError,
      "openreg: binary_cross_entropy is unsafe under autocast: its logarithms leave "
      "the range of 16 bits. Use binary_cross_entropy_with_logits without the sigmoid, "
      "or compute this in float32 inside torch.autocast(\"openreg\", enabled=False)");
}
// LITERALINCLUDE END: AUTOCAST_BANNED

}  // namespace
}  // namespace openreg

// LITERALINCLUDE START: AUTOCAST_FALLTHROUGH
TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFallthrough());
}
// LITERALINCLUDE END: AUTOCAST_FALLTHROUGH

// VENDOR: the dtype of each operator under autocast; these lists are CUDA's
// LITERALINCLUDE START: AUTOCAST_POLICIES
// One more argument for torch's list macros: the policy of the whole list.
#define LOWER_PRECISION_FP(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
#define FP32(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
#define FP32_SET_OPT_DTYPE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32_set_opt_dtype)
#define PROMOTE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, promote)

namespace at {  // torch's lists name types of this namespace

TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
  AT_FORALL_LOWER_PRECISION_FP(LOWER_PRECISION_FP)  // (1)
  AT_FORALL_FP32(FP32)                              // (2)
  AT_FORALL_FP32_SET_OPT_DTYPE(FP32_SET_OPT_DTYPE)  // (3)
  AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE(         // (4)
      KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE)
  AT_FORALL_PROMOTE(PROMOTE)                                             // (5)
  m.impl("binary_cross_entropy", openreg::refuse_binary_cross_entropy);  // (6)
}

}  // namespace at
// LITERALINCLUDE END: AUTOCAST_POLICIES
