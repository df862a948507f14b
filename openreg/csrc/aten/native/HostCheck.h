// Refuses, before a launch, what a kernel would refuse; see
// docs/operators/structured.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/FunctionRef.h>

#include <optional>
#include <tuple>

namespace openreg {

// LITERALINCLUDE START: HOST_CHECK
// An exception inside a kernel stops the device, so the host half of an operator checks
// the arguments first. `is_valid` is the backend's own, quick check. Where it does not
// pass, `on_host` runs the CPU's operator on zeros: it throws in torch's own words, or
// returns, and then the arguments were unusual but good.
void check_arguments(bool is_valid, c10::function_ref<void()> on_host);

// CPU tensors of zeros for `on_host`, with the sizes, strides and dtype of `tensor`.
at::Tensor zeros_for(const at::Tensor& tensor);
std::optional<at::Tensor> zeros_for(const std::optional<at::Tensor>& tensor);
// LITERALINCLUDE END: HOST_CHECK

// Drops the warnings of a scope: what the CPU's operator says of zeros, and in a kernel
// what the host half has said.
class Quiet final : c10::WarningHandler {
 public:
  Quiet() : guard_(this) {}
  void process(const c10::Warning&) override {}

 private:
  c10::WarningUtils::WarningHandlerGuard guard_;
};

// Resizes a tensor that the caller gave as out=, which warns if it had elements.
void resize_out(const at::Tensor& out, at::IntArrayRef sizes);

// Writes `result` to a tensor that the caller gave as out=. If that one has to change
// its sizes, it gets the strides of `result` too; else it keeps its own.
at::Tensor& write_out(const at::Tensor& result, at::Tensor& out);

// Throws unless a tensor given as out= has the dtype of the result.
void check_out_dtype(const at::Tensor& out, at::ScalarType dtype);

// Whether no dimension but the first `batch` ones is of size 0.
bool has_elements(const at::Tensor& tensor, int64_t batch = 0);

bool none_below(at::IntArrayRef values, int64_t least);

// The layout in which ATen's kernels for images write: that of `tensor` if it has a
// batch, so that it is of `with_batch` dimensions.
at::MemoryFormat format_of(const at::Tensor& tensor, int64_t with_batch);

// kFunction, such as at::grid_sampler_2d, as a kernel that writes to outputs, for
// compute_into. A result that nobody asked for is undefined, and left out.
template <auto* kFunction>
struct Into;
template <class... Args, at::Tensor (*kFunction)(Args...)>
struct Into<kFunction> {
  static at::Tensor& write(Args... args, at::Tensor& out) {
    return out.copy_(kFunction(args...));
  }
};
template <class... Args, std::tuple<at::Tensor, at::Tensor> (*kFunction)(Args...)>
struct Into<kFunction> {
  static std::tuple<at::Tensor&, at::Tensor&> write(Args... args, at::Tensor& first,
                                                    at::Tensor& second) {
    const auto [one, other] = kFunction(args...);
    if (one.defined()) {
      first.copy_(one);
    }
    if (other.defined()) {
      second.copy_(other);
    }
    return {first, second};
  }
};

// The same for two functions of one operator, kInPlace, such as
// at::cpu::avg_pool3d_outf, and kFunction: CUDA has kernels for float16 and bfloat16
// where the CPU has none. They are computed in float32, as CUDA does inside of its
// kernels.
template <auto* kFunction, auto* kInPlace>
struct InFloat;
template <class... Args, at::Tensor (*kFunction)(Args...), auto* kInPlace>
struct InFloat<kFunction, kInPlace> {
  static at::Tensor& write(Args... args, at::Tensor& out) {
    if (at::isReducedFloatingType(out.scalar_type())) {
      return out.copy_(kFunction(widened(args)...));
    }
    return kInPlace(args..., out);
  }

 private:
  template <class T>
  static decltype(auto) widened(const T& value) {
    if constexpr (std::is_same_v<T, at::Tensor>) {
      return at::isReducedFloatingType(value.scalar_type()) ? value.to(at::kFloat)
                                                            : value;
    } else {
      return (value);
    }
  }
};

}  // namespace openreg
