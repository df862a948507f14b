// Collectives through memory that all ranks share; see docs/modules/distributed.md.
#include "csrc/distributed/OnBoard.h"

#include <ATen/ops/add.h>
#include <ATen/ops/bitwise_and.h>
#include <ATen/ops/bitwise_or.h>
#include <ATen/ops/bitwise_xor.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/view_as_real.h>

#include <algorithm>
#include <cstring>

namespace openreg {
namespace {

constexpr size_t kPiece = Board::kPage - sizeof(Signature);

const std::byte* piece_of(const Board& board, int rank) {
  return board.of(rank) + sizeof(Signature);
}

// The tensors lie one behind the other. Calls `use(address, bytes, offset)` for what
// bytes `first` to `first + count` are of each; `offset` counts from `first`.
template <class Use>
void each_part(const std::vector<at::Tensor>& tensors, size_t first, size_t count,
               const Use& use) {
  size_t start = 0;
  for (const at::Tensor& tensor : tensors) {
    const size_t from = std::max(first, start);
    const size_t to = std::min(first + count, start + tensor.nbytes());
    if (from < to) {
      use(static_cast<std::byte*>(tensor.data_ptr()) + (from - start), to - from,
          from - first);
    }
    start += tensor.nbytes();
  }
}

void combine(c10d::ReduceOp::RedOpType op, at::Tensor& out, const at::Tensor& a,
             const at::Tensor& b) {
  using c10d::ReduceOp;
  switch (op) {
    case ReduceOp::PRODUCT:
      at::mul_out(out, a, b);
      break;
    case ReduceOp::MIN:
      at::minimum_out(out, a, b);
      break;
    case ReduceOp::MAX:
      at::maximum_out(out, a, b);
      break;
    case ReduceOp::BAND:
      at::bitwise_and_out(out, a, b);
      break;
    case ReduceOp::BOR:
      at::bitwise_or_out(out, a, b);
      break;
    case ReduceOp::BXOR:
      at::bitwise_xor_out(out, a, b);
      break;
    default:  // SUM, and the first half of AVG
      at::add_out(out, a, b);
  }
}

}  // namespace

// LITERALINCLUDE START: ON_BOARD
void carry_on_board(Board& board, const Signature& mine,
                    const std::vector<at::Tensor>& share, const Take& take,
                    std::chrono::milliseconds timeout) {
  size_t bytes = 0;
  for (const at::Tensor& tensor : share) {
    bytes += tensor.nbytes();
  }
  const std::lock_guard lock(board.mutex);
  size_t first = 0;
  do {
    const size_t count = std::min(kPiece, bytes - first);
    std::memcpy(board.mine(), &mine, sizeof(mine));
    each_part(share, first, count, [&](std::byte* from, size_t length, size_t offset) {
      std::memcpy(board.mine() + sizeof(mine) + offset, from, length);
    });
    board.meet(timeout);
    if (first == 0) {
      std::vector<Signature> all(board.size());
      for (int rank = 0; rank < board.size(); ++rank) {
        std::memcpy(&all[rank], board.of(rank), sizeof(mine));
      }
      compare(all);  // (1)
    }
    take(board, first, count);
    first += count;
  } while (first < bytes);
}

Take gather_from_board(std::vector<std::vector<at::Tensor>> parts) {
  return [parts = std::move(parts)](const Board& board, size_t first, size_t count) {
    for (int rank = 0; rank < board.size(); ++rank) {
      each_part(parts[rank], first, count,
                [&](std::byte* to, size_t length, size_t offset) {
                  std::memcpy(to, piece_of(board, rank) + offset, length);
                });
    }
  };
}

Take reduce_from_board(std::vector<at::Tensor> outputs, const c10d::ReduceOp& op) {
  return [outputs = std::move(outputs), op = op.op_](const Board& board, size_t first,
                                                     size_t count) {
    each_part(outputs, first, count, [&](std::byte* to, size_t length, size_t offset) {
      const auto tensor = [&](const std::byte* data) {
        const auto size = static_cast<int64_t>(length / outputs[0].itemsize());
        return at::from_blob(const_cast<std::byte*>(data), {size},
                             outputs[0].options());
      };
      at::Tensor out = tensor(to);
      at::Tensor sum = tensor(piece_of(board, 0) + offset);
      for (int rank = 1; rank < board.size(); ++rank) {
        combine(op, out, sum, tensor(piece_of(board, rank) + offset));  // (2)
        sum = out;
      }
      if (op == c10d::ReduceOp::AVG) {
        (out.is_complex() ? at::view_as_real(out) : out).div_(board.size());
      }
    });
  };
}
// LITERALINCLUDE END: ON_BOARD

}  // namespace openreg
