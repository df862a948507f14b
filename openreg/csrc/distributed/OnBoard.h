// Collectives through memory that all ranks share; see docs/modules/distributed.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <torch/csrc/distributed/c10d/Types.hpp>
#include <vector>

#include "csrc/distributed/Agreement.h"
#include "csrc/distributed/Board.h"

namespace openreg {

// Each rank has a share of bytes, which goes over the board in pieces. A Take is called
// for each piece, with its first byte and their number, while all pages have it.
using Take = std::function<void(const Board& board, size_t first, size_t count)>;

// On the device: compares signatures with all ranks, then lets `take` see the share of
// every rank. `share`: CPU tensors of one dimension, of as many bytes on all ranks.
void carry_on_board(Board& board, const Signature& mine,
                    const std::vector<at::Tensor>& share, const Take& take,
                    std::chrono::milliseconds timeout);

// Takes the shares one after the other: rank r's goes to parts[r].
Take gather_from_board(std::vector<std::vector<at::Tensor>> parts);

// Takes the reduction of all shares. Every rank computes it in the order of the ranks:
// all have the same result, to the last bit.
Take reduce_from_board(std::vector<at::Tensor> outputs, const c10d::ReduceOp& op);

}  // namespace openreg
