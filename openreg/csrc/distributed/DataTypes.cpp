// Converts torch dtypes to OCCL types, and OCCL results to exceptions; see
// docs/modules/distributed.md.
#include "csrc/distributed/DataTypes.h"

#include <c10/util/Exception.h>

#include <optional>

namespace openreg {
namespace {

// VENDOR: the dtypes that your communication library reduces
// LITERALINCLUDE START: OCCL_DTYPES
std::optional<occlDataType_t> occl_dtype(at::ScalarType dtype) {
  switch (dtype) {
    case at::kChar:
      return occlInt8;
    case at::kByte:
      return occlUint8;
    case at::kInt:
      return occlInt32;
    case at::kLong:
      return occlInt64;
    case at::kHalf:
      return occlFloat16;
    case at::kFloat:
      return occlFloat32;
    case at::kDouble:
      return occlFloat64;
    case at::kBFloat16:
      return occlBfloat16;
    default:
      return std::nullopt;
  }
}
// LITERALINCLUDE END: OCCL_DTYPES

// Lazy clones were already copied, because collective() requests the address of every
// tensor.
std::byte* address_of(const at::Tensor& tensor) {
  return static_cast<std::byte*>(const_cast<void*>(tensor.const_data_ptr()));
}

}  // namespace

bool is_known_to_occl(at::ScalarType dtype) { return occl_dtype(dtype).has_value(); }

CommBuffer CommBuffer::of_numbers(const at::Tensor& tensor) {
  const auto count = static_cast<size_t>(tensor.numel());
  switch (tensor.scalar_type()) {
    case at::kBool:
      return {address_of(tensor), count, occlUint8};
    case at::kComplexFloat:
      return {address_of(tensor), 2 * count, occlFloat32};
    case at::kComplexDouble:
      return {address_of(tensor), 2 * count, occlFloat64};
    default:
      return of_bytes(tensor);
  }
}

CommBuffer CommBuffer::of_bytes(const at::Tensor& tensor) {
  const auto known = occl_dtype(tensor.scalar_type());
  const auto count = static_cast<size_t>(known ? tensor.numel() : tensor.nbytes());
  return {address_of(tensor), count, known.value_or(occlUint8)};
}

occlRedOp_t to_occl(const c10d::ReduceOp& op, at::ScalarType dtype) {
  const bool boolean = dtype == at::kBool;
  switch (op.op_) {
    case c10d::ReduceOp::SUM:
      return boolean ? occlMax : occlSum;
    case c10d::ReduceOp::PRODUCT:
      return boolean ? occlMin : occlProd;
    case c10d::ReduceOp::MIN:
      return occlMin;
    case c10d::ReduceOp::MAX:
      return occlMax;
    case c10d::ReduceOp::AVG:
      return occlAvg;
    case c10d::ReduceOp::BAND:
      return occlBitAnd;
    case c10d::ReduceOp::BOR:
      return occlBitOr;
    case c10d::ReduceOp::BXOR:
      return occlBitXor;
    default:  // check_reduction() rejects all others
      TORCH_CHECK_NOT_IMPLEMENTED(false, "occl has no ReduceOp of number ",
                                  static_cast<int>(op.op_));
  }
}

}  // namespace openreg
