// Whether all ranks ask for the same operation; see docs/modules/distributed.md.
#include "csrc/distributed/Agreement.h"

#include <ATen/core/TensorAccessor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>

#include <sstream>

#include "csrc/distributed/Checks.h"
#include "csrc/distributed/OnBoard.h"

namespace openreg {
namespace {

// Each row is the `splits` of a rank.
void compare_exchange(const at::Tensor& rows) {
  const int64_t size = rows.size(0);
  const auto row = rows.accessor<int64_t, 2>();
  for (int64_t from = 0; from < size; ++from) {
    for (int64_t to = 0; to < size; ++to) {
      const int64_t sends = row[from][to];
      const int64_t expects = row[to][size + from];
      TORCH_CHECK_WITH(DistBackendError, sends == expects, "rank ", from, " sends ",
                       sends, " bytes to rank ", to, ", which expects ", expects);
    }
  }
}

}  // namespace

static_assert(sizeof(Signature) == Signature::kNumbers * sizeof(int64_t));

std::string Signature::describe() const {
  std::ostringstream text;
  text << "#" << number << " " << c10d::opTypeToString(static_cast<c10d::OpType>(type));
  if (dtype >= 0) {
    text << " of " << tensors << (tensors == 1 ? " tensor " : " tensors ")
         << c10::toString(static_cast<c10::ScalarType>(dtype));
  }
  if (bytes >= 0) {
    text << ", " << bytes << " bytes";
  }
  if (reduce >= 0) {
    text << ", ReduceOp." << name_of_reduction(reduce);
  }
  if (root >= 0) {
    text << ", root " << root;
  }
  return text.str();
}

at::Tensor exchange(c10d::Backend& carrier, const at::Tensor& mine,
                    std::chrono::milliseconds timeout) {
  at::Tensor all = at::empty({carrier.getSize(), mine.numel()}, mine.options());
  std::vector<std::vector<at::Tensor>> rows{all.unbind(0)};
  std::vector<at::Tensor> row{mine};
  c10d::AllgatherOptions options;
  options.timeout = timeout;
  carrier.allgather(rows, row, options)->wait();
  return all;
}

// LITERALINCLUDE START: OCCL_AGREE
void compare(const std::vector<Signature>& all) {
  std::string said;
  bool same = true;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    same &= all[rank] == all[0];
    said += c10::str("\n  rank ", rank, ": ", all[rank].describe());
  }
  TORCH_CHECK_WITH(DistBackendError, same,
                   "the ranks do not ask for the same operation:", said);
}
// LITERALINCLUDE END: OCCL_AGREE

void agree(c10d::Backend& carrier, Board* board, const Signature& mine,
           const std::vector<int64_t>& splits, std::chrono::milliseconds timeout) {
  const int64_t ranks = carrier.getSize();
  const at::Tensor row = at::tensor(splits, at::kLong);
  at::Tensor rows = at::empty({ranks, row.numel()}, at::kLong);
  if (board != nullptr) {
    std::vector<std::vector<at::Tensor>> parts;
    for (const at::Tensor& part : rows.unbind()) {
      parts.push_back({part});
    }
    carry_on_board(*board, mine, {row}, gather_from_board(parts), timeout);
  } else {
    const auto* numbers = reinterpret_cast<const int64_t*>(&mine);
    const at::Tensor all = exchange(
        carrier, at::tensor(at::ArrayRef<int64_t>(numbers, Signature::kNumbers)),
        timeout);
    const auto* signatures = static_cast<const Signature*>(all.const_data_ptr());
    compare({signatures, signatures + ranks});
    if (!splits.empty()) {
      rows = exchange(carrier, row, timeout);
    }
  }
  if (!splits.empty()) {
    compare_exchange(rows);
  }
}

}  // namespace openreg
