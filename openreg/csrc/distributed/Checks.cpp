// Checks the arguments of collectives before anything is sent; see
// docs/modules/distributed.md.
#include "csrc/distributed/Checks.h"

#include <numeric>

namespace openreg {
namespace {

// What Python calls a c10d::ReduceOp::RedOpType: "SUM".
const char* name_of_reduction(int64_t op) {
  static constexpr const char* kNames[] = {"SUM",  "AVG", "PRODUCT", "MIN",       "MAX",
                                           "BAND", "BOR", "BXOR",    "PREMUL_SUM"};
  return op >= 0 && op < std::ssize(kNames) ? kNames[op] : "UNUSED";
}

void check_length(const char* name, const std::vector<at::Tensor>& list, int ranks) {
  TORCH_CHECK_VALUE(list.size() == static_cast<size_t>(ranks), name,
                    " takes a list of one tensor for each of ", ranks,
                    " ranks, but got ", list.size());
}

}  // namespace

using c10d::ReduceOp;

void check_tensors(const char* name, const std::vector<at::Tensor>& tensors) {
  TORCH_CHECK_VALUE(!tensors.empty(), name, " got no tensor");
  const at::Tensor& first = tensors.front();
  for (const at::Tensor& tensor : tensors) {
    TORCH_CHECK_VALUE(tensor.is_privateuseone(), name,
                      " takes tensors of the openreg device, but got one on ",
                      tensor.device(), "; move it with .to('openreg')");
    TORCH_CHECK_VALUE(tensor.device() == first.device(), name,
                      " takes tensors of one device, but got some on ", first.device(),
                      " and on ", tensor.device());
    TORCH_CHECK_VALUE(tensor.scalar_type() == first.scalar_type(), name,
                      " takes tensors of one dtype, but got ", first.scalar_type(),
                      " and ", tensor.scalar_type());
    TORCH_CHECK_VALUE(
        tensor.layout() == at::kStrided && tensor.is_contiguous(), name,
        " takes contiguous tensors, but got one of sizes ", tensor.sizes(),
        tensor.layout() == at::kStrided ? c10::str(" and strides ", tensor.strides())
                                        : c10::str(" and layout ", tensor.layout()),
        "; call .contiguous() first");
    TORCH_CHECK_VALUE(!tensor.is_conj() && !tensor.is_neg(), name,
                      " takes tensors without a conjugate or negative bit; call "
                      ".resolve_conj() or .resolve_neg() first");
  }
}

void check_reduction(const char* name, const ReduceOp& op, at::ScalarType dtype) {
  const bool bits =
      op.op_ == ReduceOp::BAND || op.op_ == ReduceOp::BOR || op.op_ == ReduceOp::BXOR;
  bool good = op.op_ <= ReduceOp::PREMUL_SUM;
  if (dtype == at::kFloat || dtype == at::kDouble || dtype == at::kHalf ||
      dtype == at::kBFloat16) {
    good &= !bits;
  } else if (dtype == at::kComplexFloat || dtype == at::kComplexDouble) {
    good &= op.op_ == ReduceOp::SUM || op.op_ == ReduceOp::AVG;
  } else if (dtype == at::kChar || dtype == at::kByte || dtype == at::kBool ||
             dtype == at::kInt || dtype == at::kLong) {
    good &= op.op_ != ReduceOp::AVG && op.op_ != ReduceOp::PREMUL_SUM;
  } else {
    good = false;
  }
  TORCH_CHECK_TYPE(good, name, " cannot reduce ", dtype, " with ReduceOp.",
                   name_of_reduction(op.op_),
                   "; see \"Collectives, messages and dtypes\" in the guide");
}

void check_single(const char* name, size_t tensors) {
  TORCH_CHECK_VALUE(tensors == 1, name, " takes one tensor from each rank, but got ",
                    tensors);
}

void check_list(const char* name, const std::vector<at::Tensor>& list, int ranks,
                const at::Tensor& one) {
  check_length(name, list, ranks);
  for (const at::Tensor& tensor : list) {
    TORCH_CHECK_VALUE(tensor.numel() == one.numel(), name,
                      " takes a list of tensors of ", one.numel(),
                      " elements, as large as its other tensor, but got one of ",
                      tensor.numel());
  }
}

void check_uneven_list(const char* name, const std::vector<at::Tensor>& list, int ranks,
                       int rank, const at::Tensor& one) {
  check_length(name, list, ranks);
  TORCH_CHECK_VALUE(list[rank].numel() == one.numel(), name, " on rank ", rank,
                    " needs ", one.numel(), " elements in tensor ", rank,
                    " of its list, as many as in its other tensor, but got ",
                    list[rank].numel());
}

void check_whole(const char* name, const at::Tensor& whole, int ranks,
                 const at::Tensor& part) {
  TORCH_CHECK_VALUE(whole.numel() == part.numel() * ranks, name, " of ", ranks,
                    " ranks has parts of ", part.numel(),
                    " elements: the whole tensor needs ", part.numel() * ranks,
                    ", but has ", whole.numel());
}

void check_rank(const char* name, int64_t rank, int ranks) {
  TORCH_CHECK_VALUE(rank >= 0 && rank < ranks, name, " got rank ", rank,
                    ", but the group has ", ranks, " ranks");
}

std::vector<int64_t> bytes_per_rank(const char* name, const at::Tensor& tensor,
                                    const std::vector<int64_t>& splits, int ranks) {
  const int64_t rows = tensor.dim() == 0 ? 1 : tensor.size(0);
  const auto row = rows == 0 ? 0 : static_cast<int64_t>(tensor.nbytes()) / rows;
  std::vector<int64_t> result(splits);
  if (splits.empty()) {
    TORCH_CHECK_VALUE(rows % ranks == 0, name, " cannot divide ", rows,
                      " rows evenly among ", ranks, " ranks; pass the split sizes");
    result.assign(ranks, rows / ranks);
  }
  const bool fits = result.size() == static_cast<size_t>(ranks) &&
                    std::all_of(result.begin(), result.end(),
                                [](int64_t count) { return count >= 0; }) &&
                    std::accumulate(result.begin(), result.end(), int64_t{0}) == rows;
  TORCH_CHECK_VALUE(fits, name, " got split sizes ", at::IntArrayRef(splits), " for ",
                    rows, " rows and ", ranks, " ranks");
  for (int64_t& count : result) {
    count *= row;
  }
  return result;
}

}  // namespace openreg
