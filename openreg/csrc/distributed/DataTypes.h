// Converts torch dtypes to OCCL types, and OCCL results to exceptions; see
// docs/modules/distributed.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <occl.h>

#include <cstddef>
#include <torch/csrc/distributed/c10d/Types.hpp>

namespace openreg {

// A tensor as the library takes it.
struct CommBuffer {
  std::byte* data;
  size_t count;
  occlDataType_t dtype;

  // To compute with: of complex numbers the parts, of booleans the bytes.
  static CommBuffer of_numbers(const at::Tensor& tensor);
  // To move: a dtype that the library does not have moves as bytes.
  static CommBuffer of_bytes(const at::Tensor& tensor);
};

// What `op` is for numbers of `dtype`: of booleans the sum is "or", the product "and".
occlRedOp_t to_occl(const c10d::ReduceOp& op, at::ScalarType dtype);

// Whether the library has the dtype itself, so that its errors can name it.
bool is_known_to_occl(at::ScalarType dtype);

}  // namespace openreg

// Makes a library call; throws DistBackendError if it fails.
#define OCCL_CHECK(CALL) \
  TORCH_CHECK_WITH(DistBackendError, (CALL) == occlSuccess, occlGetLastError(nullptr))
