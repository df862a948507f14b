// Whether all ranks ask for the same operation; see docs/modules/distributed.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

namespace openreg {

// A collective in numbers that every rank must have in common. Gloo does not compare:
// where sizes differ, it ends the process from a thread of its own.
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
};

// On the device: compares signatures with all ranks. Throws DistBackendError, on every
// rank, if one differs.
void agree(c10d::Backend& carrier, const Signature& mine,
           std::chrono::milliseconds timeout);

// On the device: compares how much each rank sends to each other one with what that one
// expects. `sent[r]`: bytes for rank r; `expected[r]`: bytes from rank r.
void agree_on_exchange(c10d::Backend& carrier, const std::vector<int64_t>& sent,
                       const std::vector<int64_t>& expected,
                       std::chrono::milliseconds timeout);

}  // namespace openreg
