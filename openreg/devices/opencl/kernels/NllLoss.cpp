// The negative log likelihood; see docs/opencl/kernels.md.
#include "csrc/kernels/NllLoss.h"

#include <ATen/core/Reduction.h>
#include <ATen/ops/nll_loss_backward_meta.h>
#include <ATen/ops/nll_loss_backward_ops.h>
#include <ATen/ops/nll_loss_forward_meta.h>
#include <ATen/ops/nll_loss_forward_ops.h>

#include "csrc/aten/common/TensorArguments.h"
#include "csrc/kernels/IndexingFault.h"
#include "csrc/kernels/IndexingPlacement.h"
#include "csrc/kernels/opencl/Fallback.h"
#include "csrc/kernels/opencl/Launch.h"

namespace ocl::opencl {
namespace {

namespace op = at::_ops;
using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

constexpr int64_t kNllGroup = 64;

// Behind kTypes and kFault. T is the tag of the scores, TARGET the type of the classes.
constexpr const char* kNll = R"(
#define C COMPUTE(T)
typedef struct { long count, classes, positions, ignored, reduction; } Problem;

// The class of target number n; -1 if it does not count.
static long class_of(global const TARGET* target, long n, const Problem* p,
                     global long* fault, ulong name) {
  const long found = target[n];
  if (found == p->ignored) return -1;
  if (found >= 0 && found < p->classes) return found;
  report(fault, found, p->classes, name);
  return -1;
}

static long place_of(long n, long found, const Problem* p) {
  return (n / p->positions * p->classes + found) * p->positions + n % p->positions;
}

static C weight_of(global const void* weight, long found) {
  return weight == 0 ? (C)1 : LOAD(T, weight, found);
}

kernel void each_loss(global const void* self, global const TARGET* target,
                      global const void* weight, global void* out, global void* total,
                      global long* fault, ulong name, Problem p) {
  const long n = get_global_id(0);
  const long found = class_of(target, n, &p, fault, name);
  STORE(T, out, n, found < 0 ? (C)0 : -LOAD(T, self, place_of(n, found, &p)) *
                                          weight_of(weight, found));
  if (n == 0) STORE(T, total, 0, 0);
}

// One group: each work item adds up some of the losses, and the first one all sums.
kernel void sum_losses(global const void* self, global const TARGET* target,
                       global const void* weight, global void* out, global void* total,
                       global long* fault, ulong name, Problem p) {
  local C sums[GROUP], weights[GROUP];
  const int me = get_local_id(0);
  C sum = 0, all = 0;
  for (long n = me; n < p.count; n += GROUP) {
    const long found = class_of(target, n, &p, fault, name);
    if (found >= 0) {
      const C one = weight_of(weight, found);
      sum -= LOAD(T, self, place_of(n, found, &p)) * one;
      all += one;
    }
  }
  sums[me] = sum;
  weights[me] = all;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (me == 0) {
    for (int i = 1; i < GROUP; ++i) {
      sum += sums[i];
      all += weights[i];
    }
    STORE(T, out, 0, p.reduction == 1 ? sum / all : sum);
    STORE(T, total, 0, all);
  }
}

kernel void of_scores(global const void* grad_output, global const TARGET* target,
                      global const void* weight, global const void* total,
                      global void* grad, global long* fault, ulong name, Problem p) {
  const long n = get_global_id(0);
  const long found = class_of(target, n, &p, fault, name);
  if (found < 0) return;
  const C given = LOAD(T, grad_output, p.reduction == 0 ? n : 0);
  const C share = p.reduction == 1 ? given / LOAD(T, total, 0) : given;
  STORE(T, grad, place_of(n, found, &p), -share * weight_of(weight, found));
}
)";

struct NllProblem {
  int64_t count, classes, positions, ignored, reduction;
};

const Source& nll_source() {
  static const auto* const text = new std::string(join({kFault, kNll}));
  static const Source only{text->c_str()};
  return only;
}

std::string nll_options(const Tensor& self, const Tensor& target) {
  return define("T", self.scalar_type()) + "-DGROUP=" + std::to_string(kNllGroup) +
         (target.scalar_type() == at::kByte ? " -DTARGET=uchar" : " -DTARGET=long");
}

NllProblem nll_problem(const Tensor& self, const Tensor& target, int64_t reduction,
                       int64_t ignore_index) {
  const int64_t classes = self.size(self.dim() == 1 ? 0 : 1);
  const int64_t count = target.numel();
  const int64_t positions = self.dim() <= 2 ? 1 : self.size(2) * self.size(3);
  return {count, classes, positions, ignore_index, reduction};
}

bool has_nll(const Tensor& self, const Tensor& target) {
  return supports(self.scalar_type()) &&
         (target.scalar_type() == at::kLong || target.scalar_type() == at::kByte);
}

uint64_t nll_name() {
  return static_cast<uint64_t>(reinterpret_cast<uintptr_t>("nll_loss"));
}

bool nll_forward(const Tensor& self, const Tensor& target, const OptionalTensor& weight,
                 int64_t reduction, int64_t ignore_index, const Tensor& output,
                 const Tensor& total_weight) {
  return nll_loss(self, target, or_undefined(weight), reduction, ignore_index, output,
                  total_weight);
}

bool nll_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                  const OptionalTensor& weight, int64_t reduction, int64_t ignore_index,
                  const Tensor& total_weight, const Tensor& grad_input) {
  return nll_loss_backward(grad_output, self, target, or_undefined(weight), reduction,
                           ignore_index, total_weight, grad_input);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  structured_or_fall_back<op::nll_loss_forward, op::nll_loss_forward_output,
                          at::meta::structured_nll_loss_forward>(m, nll_forward);
  structured_or_fall_back<op::nll_loss_backward, op::nll_loss_backward_grad_input,
                          at::meta::structured_nll_loss_backward>(m, nll_backward);
}

}  // namespace

bool nll_loss(const Tensor& self, const Tensor& target, const Tensor& weight,
              int64_t reduction, int64_t ignore_index, const Tensor& output,
              const Tensor& total_weight) {
  if (!has_nll(self, target) || !output.is_contiguous()) {
    return false;
  }
  const NllProblem problem = nll_problem(self, target, reduction, ignore_index);
  // A score without a batch is reduced by itself, whatever is asked for.
  const bool each = reduction == at::Reduction::None && self.dim() > 1;
  const Tensor scores = self.contiguous(), classes = target.contiguous();
  const Tensor weights = weight.defined() ? weight.contiguous() : weight;
  if (each && problem.count == 0) {
    total_weight.zero_();
    return true;
  }
  launch(nll_source(), each ? "each_loss" : "sum_losses", nll_options(self, target),
         each ? Range({problem.count}) : Range::groups(1, kNllGroup), scores, classes,
         weights, writes(output), writes(total_weight), fault_record(output),
         nll_name(), problem);
  watch_faults(output);
  return true;
}

bool nll_loss_backward(const Tensor& grad_output, const Tensor& self,
                       const Tensor& target, const Tensor& weight, int64_t reduction,
                       int64_t ignore_index, const Tensor& total_weight,
                       const Tensor& grad_input) {
  if (!has_nll(self, target) || !grad_input.is_contiguous()) {
    return false;
  }
  NllProblem problem = nll_problem(self, target, reduction, ignore_index);
  if (self.dim() == 1 && reduction == at::Reduction::None) {
    problem.reduction = at::Reduction::Sum;
  }
  grad_input.zero_();
  if (problem.count > 0) {
    const Tensor given = grad_output.contiguous(), classes = target.contiguous();
    const Tensor weights = weight.defined() ? weight.contiguous() : weight;
    launch(nll_source(), "of_scores", nll_options(self, target), Range({problem.count}),
           given, classes, weights, total_weight, writes(grad_input),
           fault_record(grad_input), nll_name(), problem);
    watch_faults(grad_input);
  }
  return true;
}

}  // namespace ocl::opencl
