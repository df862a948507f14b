// Whether all ranks ask for the same operation; see docs/modules/distributed.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

namespace openreg {

class Board;

// A collective in numbers that every rank must have in common. Gloo does not compare:
// it ends the process that gets more than it expects, from a thread of its own.
struct Signature {
  int64_t number;   // how many collectives came before, in this group
  int64_t type;     // c10d::OpType
  int64_t dtype;    // c10::ScalarType, of the first tensor; -1: no tensor
  int64_t tensors;  // of one rank's share
  int64_t bytes;    // of one rank's share; -1: may differ between ranks
  int64_t sizes;    // a hash of the single sizes of the tensors
  int64_t reduce;   // c10d::ReduceOp; -1: none
  int64_t root;     // -1: none

  static constexpr int64_t kNumbers = 8;
  std::string describe() const;
  bool operator==(const Signature&) const = default;
};

// Rows of numbers, one for each rank; `mine` is this rank's.
at::Tensor exchange(c10d::Backend& carrier, const at::Tensor& mine,
                    std::chrono::milliseconds timeout);

// Throws DistBackendError, on every rank, if the signature of one differs.
void compare(const std::vector<Signature>& all);

// On the device: compares signatures with all ranks and, unless `splits` is empty, how
// much each rank sends to each other one with what that one expects. `splits` has for
// each rank the bytes for it, and then for each rank the bytes from it. Throws as
// compare() does. `board` may be null: then the carrier carries.
void agree(c10d::Backend& carrier, Board* board, const Signature& mine,
           const std::vector<int64_t>& splits, std::chrono::milliseconds timeout);

}  // namespace openreg
