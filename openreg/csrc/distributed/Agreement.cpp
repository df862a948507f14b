// Whether all ranks ask for the same operation; see docs/modules/distributed.md.
#include "csrc/distributed/Agreement.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>

#include <array>
#include <cstring>
#include <sstream>

namespace openreg {
namespace {

// Rows of numbers, one for each rank; `mine` is this rank's.
at::Tensor exchange(c10d::Backend& carrier, at::Tensor mine,
                    std::chrono::milliseconds timeout) {
  at::Tensor all = at::empty({carrier.getSize(), mine.numel()}, mine.options());
  std::vector<std::vector<at::Tensor>> rows{all.unbind(0)};
  std::vector<at::Tensor> row{mine};
  c10d::AllgatherOptions options;
  options.timeout = timeout;
  carrier.allgather(rows, row, options)->wait();
  return all;
}

const char* name_of(int64_t reduce) {
  static constexpr std::array names{"sum", "avg",  "product", "min",
                                    "max", "band", "bor",     "bxor"};
  return names.at(static_cast<size_t>(reduce));
}

}  // namespace

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
    text << ", " << name_of(reduce);
  }
  if (root >= 0) {
    text << ", root " << root;
  }
  return text.str();
}

// LITERALINCLUDE START: OCCL_AGREE
void agree(c10d::Backend& carrier, const Signature& mine,
           std::chrono::milliseconds timeout) {
  static_assert(sizeof(Signature) == Signature::kNumbers * sizeof(int64_t));
  at::Tensor row = at::empty({Signature::kNumbers}, at::kLong);
  std::memcpy(row.data_ptr(), &mine, sizeof(mine));
  const at::Tensor all = exchange(carrier, row, timeout);
  const auto* signatures = static_cast<const Signature*>(all.const_data_ptr());
  std::string said;
  bool same = true;
  for (int rank = 0; rank < carrier.getSize(); ++rank) {
    same &= std::memcmp(&signatures[rank], &mine, sizeof(mine)) == 0;
    said += c10::str("\n  rank ", rank, ": ", signatures[rank].describe());
  }
  TORCH_CHECK_WITH(DistBackendError, same,
                   "the ranks do not ask for the same operation:", said);
}
// LITERALINCLUDE END: OCCL_AGREE

void agree_on_exchange(c10d::Backend& carrier, const std::vector<int64_t>& sent,
                       const std::vector<int64_t>& expected,
                       std::chrono::milliseconds timeout) {
  const int size = carrier.getSize();
  std::vector<int64_t> mine(sent);
  mine.insert(mine.end(), expected.begin(), expected.end());
  const at::Tensor all = exchange(carrier, at::tensor(mine, at::kLong), timeout);
  const auto* rows = all.const_data_ptr<int64_t>();
  const int64_t width = 2 * int64_t{size};
  for (int from = 0; from < size; ++from) {
    for (int to = 0; to < size; ++to) {
      const int64_t sends = rows[from * width + to];
      const int64_t expects = rows[to * width + size + from];
      TORCH_CHECK_WITH(DistBackendError, sends == expects, "rank ", from, " sends ",
                       sends, " bytes to rank ", to, ", which expects ", expects);
    }
  }
}

}  // namespace openreg
