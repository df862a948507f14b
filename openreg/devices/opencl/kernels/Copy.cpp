// Copies on one device that convert dtypes and strides; see docs/opencl/kernels.md.
#include "csrc/aten/ops/CopyKernel.h"

#include <ATen/ops/view_as_real.h>

#include "csrc/aten/ops/Fallback.h"
#include "csrc/kernels/opencl/Iterator.h"
#include "csrc/runtime/device/OclGuard.h"
#include "csrc/runtime/stream/StreamCapture.h"

namespace ocl::opencl::copy {
namespace {

// A dtype of the same size without a meaning: values that are not converted are bytes.
at::ScalarType bytes_of(at::ScalarType dtype) {
  switch (at::elementSize(dtype)) {
    case 1:
      return at::kByte;
    case 2:
      return at::kShort;
    case 4:
      return at::kInt;
    case 8:
      return at::kLong;
    default:
      return at::ScalarType::Undefined;
  }
}

// The elements in memory, without pending conjugation and negation.
at::Tensor as_they_are(const at::Tensor& tensor) {
  at::Tensor plain = tensor.detach();
  plain._set_conj(false);
  plain._set_neg(false);
  return plain;
}

// The same as integers; a complex128 is two of them.
at::Tensor as_bytes(const at::Tensor& tensor) {
  const at::Tensor plain = as_they_are(tensor);
  const at::ScalarType dtype = tensor.scalar_type();
  return dtype == at::kComplexDouble ? at::view_as_real(plain).view(at::kLong)
                                     : plain.view(bytes_of(dtype));
}

// For complex numbers and dtypes that OpenCL C lacks: the host converts, and the copies
// in both directions move bytes.
void convert_on_host(const at::Tensor& src, const at::Tensor& dst) {
  refuse_in_capture(
      dst.device().index(), "copy_",
      "it falls back to the CPU, and a replay runs only work of the device");
  count_fallback("aten::copy_");
  at::Tensor host = as_they_are(src).to(at::kCPU);
  host._set_conj(src.is_conj());
  host._set_neg(src.is_neg());
  host = host.resolve_conj().resolve_neg().to(dst.scalar_type());
  if (dst.is_conj()) {
    host = host.conj_physical();
  }
  if (dst.is_neg()) {
    host = host.neg();
  }
  as_they_are(dst).copy_(host);
}

void launch_copy(const at::Tensor& src, const at::Tensor& dst) {
  const OclGuard guard(dst.device().index());
  const bool same_bits = src.is_conj() == dst.is_conj() && src.is_neg() == dst.is_neg();
  const bool move = src.scalar_type() == dst.scalar_type() && same_bits;
  const bool plain = same_bits && !src.is_conj() && !src.is_neg();
  if (!move && !(plain && supports({src, dst}))) {
    return convert_on_host(src, dst);
  }
  // LITERALINCLUDE START: COPY
  at::TensorIterator iterator = at::TensorIteratorConfig()
                                    .set_check_mem_overlap(false)
                                    .check_all_same_dtype(false)
                                    .resize_outputs(false)
                                    .add_owned_output(move ? as_bytes(dst) : dst)
                                    .add_owned_const_input(move ? as_bytes(src) : src)
                                    .build();
  // Converts once: through the dtype of the source, to that of the output.
  if (!pointwise(iterator, {"a"}, {}, iterator.dtype(1))) {
    convert_on_host(src, dst);
  }
}

[[maybe_unused]] const bool registered = ((copy_kernel = launch_copy), true);
// LITERALINCLUDE END: COPY

}  // namespace
}  // namespace ocl::opencl::copy
