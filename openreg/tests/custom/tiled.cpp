// A tensor without storage, in tiles of 16 x 16; see docs/runtime/custom-tensor.md.
#include <ATen/InferSize.h>
#include <ATen/TensorUtils.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>
#include <c10/util/strides.h>
#include <torch/library.h>

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "csrc/kernels/cpu/Launch.h"

namespace tiled {
namespace {

using at::Tensor;
using c10::DispatchKey;
using c10::IntArrayRef;

constexpr int64_t kEdge = 16, kCells = kEdge * kEdge;

int64_t tiles_for(int64_t length) { return (length + kEdge - 1) / kEdge; }

// LITERALINCLUDE START: TILED_IMPL
// The memory: a matrix of rows x columns, cut into tiles that are filled up with zeros.
struct Tiles {
  Tensor values;  // (tiles down, tiles across, 16, 16)
  int64_t rows, columns;
};

// Sizes, strides and offset are those of a row-major matrix that exists nowhere.
class TiledTensorImpl final : public c10::TensorImpl {
 public:
  explicit TiledTensorImpl(Tiles tiles)
      : TensorImpl(c10::DispatchKeySet(DispatchKey::PrivateUse2),  // (1)
                   tiles.values.dtype(), tiles.values.device()),
        tiles_(std::move(tiles)) {
    set_storage_access_should_throw();
  }

  const Tiles& tiles() const { return tiles_; }
  // LITERALINCLUDE END: TILED_IMPL

  // LITERALINCLUDE START: TILED_STORAGE
  // For comparison: the same tensor, with the memory of its tiles as its storage.
  TiledTensorImpl(Tiles tiles, c10::Storage storage)
      : TensorImpl(std::move(storage), c10::DispatchKeySet(DispatchKey::PrivateUse2),
                   tiles.values.dtype()),
        tiles_(std::move(tiles)) {}
  // LITERALINCLUDE END: TILED_STORAGE

  // LITERALINCLUDE START: TILED_COPIES
  void release_resources() override {
    TensorImpl::release_resources();
    tiles_.values.reset();
  }

  c10::intrusive_ptr<TensorImpl> shallow_copy_and_detach(
      const c10::VariableVersion& version, bool may_change) const override {  // (1)
    return shallow_copy(version, may_change);
  }

  c10::intrusive_ptr<TensorImpl> shallow_copy_and_detach(
      c10::VariableVersion&& version, bool may_change) const override {
    return shallow_copy(std::move(version), may_change);
  }

  void shallow_copy_from(const c10::intrusive_ptr<TensorImpl>& source) override {
    TensorImpl::shallow_copy_from(source);
    tiles_ = static_cast<const TiledTensorImpl&>(*source).tiles_;  // (2)
  }
  // LITERALINCLUDE END: TILED_COPIES

 private:
  // LITERALINCLUDE START: TILED_SHALLOW_COPY
  template <class Version>
  c10::intrusive_ptr<TensorImpl> shallow_copy(Version&& version,
                                              bool may_change) const {
    auto impl = c10::make_intrusive<TiledTensorImpl>(tiles_);
    copy_tensor_metadata(this, impl.get(), std::forward<Version>(version), may_change);
    impl->refresh_numel();
    impl->refresh_contiguous();
    return impl;
  }
  // LITERALINCLUDE END: TILED_SHALLOW_COPY

  const char* tensorimpl_type_name() const override { return "TiledTensorImpl"; }

  Tiles tiles_;
};

bool is_tiled(const Tensor& x) {
  return x.defined() && x.key_set().has(DispatchKey::PrivateUse2);
}

const Tiles& tiles_of(const Tensor& x) {
  return static_cast<const TiledTensorImpl*>(x.unsafeGetTensorImpl())->tiles();
}

Tensor make_view(const Tiles& tiles, IntArrayRef size, IntArrayRef stride,
                 int64_t offset) {
  Tensor result = at::detail::make_tensor<TiledTensorImpl>(tiles);
  result.unsafeGetTensorImpl()->set_sizes_and_strides(size, stride, offset);
  return result;
}

Tiles empty_tiles(IntArrayRef size, const at::TensorOptions& options) {
  const int64_t columns = size.empty() ? 1 : size.back();
  const int64_t rows = columns == 0 ? 0 : c10::multiply_integers(size) / columns;
  return {at::zeros({tiles_for(rows), tiles_for(columns), kEdge, kEdge}, options), rows,
          columns};
}

Tensor empty_tiled(IntArrayRef size, const at::TensorOptions& options) {
  return make_view(empty_tiles(size, options), size, c10::contiguous_strides(size), 0);
}

// Device code: where an element of the row-major matrix lies in the tiles.
int64_t cell_of(int64_t index, int64_t columns) {
  const int64_t row = index / columns, column = index % columns;
  const int64_t tile = row / kEdge * tiles_for(columns) + column / kEdge;
  return tile * kCells + row % kEdge * kEdge + column % kEdge;
}

// Copies between a tiled tensor, which may be a view, and a contiguous plain one.
void move(const Tensor& x, const Tensor& plain, bool into_tiles) {
  TORCH_CHECK(!x.is_neg(), "tiled: a negated view has no kernel");
  const Tiles& tiles = tiles_of(x);
  openreg::cpu::launch(
      "tiled_move",
      [into_tiles](Tensor& in_tiles, Tensor& in_rows, IntArrayRef size,
                   IntArrayRef stride, int64_t offset, int64_t columns) {
        const auto bytes = static_cast<int64_t>(in_rows.element_size());
        auto* cells = static_cast<char*>(in_tiles.data_ptr());
        auto* element = static_cast<char*>(in_rows.data_ptr());
        for (int64_t n = 0; n < in_rows.numel(); ++n, element += bytes) {
          int64_t index = offset, rest = n;
          for (size_t dim = size.size(); dim-- > 0; rest /= size[dim]) {
            index += rest % size[dim] * stride[dim];
          }
          char* cell = cells + cell_of(index, columns) * bytes;
          std::memcpy(into_tiles ? cell : element, into_tiles ? element : cell, bytes);
        }
      },
      tiles.values, plain, x.sizes(), x.strides(), x.storage_offset(), tiles.columns);
}

Tensor to_plain(const Tensor& x) {
  Tensor plain = at::empty(x.sizes(), x.options());
  move(x, plain, /*into_tiles=*/false);
  return plain;
}

// LITERALINCLUDE START: TILED_COPY
Tensor copy_from(const Tensor& from, const Tensor& to, bool non_blocking) {
  const Tensor plain = is_tiled(from) ? to_plain(from) : from;
  if (is_tiled(to)) {
    const Tensor near = plain.to(to.options(), non_blocking);
    move(to, near.expand(to.sizes()).contiguous(), /*into_tiles=*/true);
  } else {
    to.copy_(plain, non_blocking);
  }
  return to;
}
// LITERALINCLUDE END: TILED_COPY

Tensor pack(const Tensor& x, bool storage) {
  TORCH_CHECK(x.device().is_privateuseone() && !x.is_complex(),
              "tiled::pack: expected a tensor of real numbers on the openreg device, ",
              "but got ", x.dtype(), " on ", x.device());
  Tensor result = empty_tiled(x.sizes(), x.options());
  if (storage) {
    const Tiles& tiles = tiles_of(result);
    const Tensor with_storage =
        at::detail::make_tensor<TiledTensorImpl>(tiles, tiles.values.storage());
    with_storage.unsafeGetTensorImpl()->set_sizes_contiguous(x.sizes());
    result = with_storage;
  }
  return result.copy_(x);
}

Tensor unpack(const Tensor& x) { return at::empty(x.sizes(), x.options()).copy_(x); }

Tensor clone(const Tensor& x, std::optional<at::MemoryFormat>) {
  return empty_tiled(x.sizes(), x.options()).copy_(x);
}

Tensor empty_like(const Tensor& x, std::optional<at::ScalarType> dtype,
                  std::optional<at::Layout>, std::optional<at::Device> device,
                  std::optional<bool>, std::optional<at::MemoryFormat>) {
  const auto options = at::TensorOptions().dtype(dtype).device(device);
  return empty_tiled(x.sizes(), x.options().merge_in(options));
}

// LITERALINCLUDE START: TILED_VIEWS
Tensor view_of(const Tensor& x, IntArrayRef size, IntArrayRef stride,
               std::optional<int64_t> offset) {
  const int64_t first = offset.value_or(x.storage_offset());
  int64_t last = first;
  for (const auto dim : c10::irange(size.size())) {
    TORCH_CHECK(stride[dim] >= 0, "tiled: strides must not be negative");
    last += (size[dim] - 1) * stride[dim];
  }
  const Tiles& tiles = tiles_of(x);
  const bool fits = first >= 0 && last < tiles.rows * tiles.columns;
  TORCH_CHECK(fits || c10::multiply_integers(size) == 0, "tiled: a view that reaches ",
              "element ", last, " of a matrix of ", tiles.rows * tiles.columns);
  return make_view(tiles, size, stride, first);
}
// LITERALINCLUDE END: TILED_VIEWS

Tensor view(const Tensor& x, IntArrayRef size) {
  const auto shape = at::infer_size_dv(size, x.numel());
  const auto stride = at::detail::computeStride(x.sizes(), x.strides(), shape);
  TORCH_CHECK(stride.has_value(), "tiled: this tensor has no view of size ", shape,
              ", because it is one itself. Use reshape");
  return view_of(x, shape, *stride, std::nullopt);
}

Tensor reshape_alias(const Tensor& x, IntArrayRef size, IntArrayRef stride) {
  return view_of(x, size, stride, std::nullopt);
}

Tensor alias(const Tensor& x) {
  return view_of(x, x.sizes(), x.strides(), std::nullopt);
}

// The tensor itself if it is all of its matrix, else its own copy.
Tensor whole(const Tensor& x) {
  const bool is_whole = is_tiled(x) && x.dim() > 0 && x.is_contiguous() &&
                        x.size(-1) == tiles_of(x).columns &&
                        x.numel() == tiles_of(x).rows * tiles_of(x).columns;
  return is_whole ? x : pack(x, /*storage=*/false);
}

// Device code: what a matrix unit does with three tiles.
void multiply_tiles(const float* a, const float* b, float* c) {
  for (int64_t i = 0; i < kEdge; ++i) {
    for (int64_t k = 0; k < kEdge; ++k) {
      for (int64_t j = 0; j < kEdge; ++j) {
        c[i * kEdge + j] += a[i * kEdge + k] * b[k * kEdge + j];
      }
    }
  }
}

Tensor mm(const Tensor& a, const Tensor& b) {
  TORCH_CHECK(a.dim() == 2 && b.dim() == 2 && a.size(1) == b.size(0),
              "tiled: mm of sizes ", a.sizes(), " and ", b.sizes());
  TORCH_CHECK(a.device() == b.device() && a.scalar_type() == at::kFloat &&
                  b.scalar_type() == at::kFloat,
              "tiled: mm needs two matrices of float32 on one device, but got ",
              a.dtype(), " on ", a.device(), " and ", b.dtype(), " on ", b.device());
  const Tensor left = whole(a), right = whole(b);
  const Tensor result = empty_tiled({a.size(0), b.size(1)}, left.options());
  openreg::cpu::launch(
      "tiled_mm",
      [](const Tensor& left, const Tensor& right, Tensor& to) {
        const int64_t inner = right.size(0), across = to.size(1);
        for (int64_t tile = 0; tile < to.size(0) * across * inner; ++tile) {
          const int64_t i = tile / inner / across, k = tile % inner,
                        j = tile / inner % across;
          multiply_tiles(left.const_data_ptr<float>() + (i * inner + k) * kCells,
                         right.const_data_ptr<float>() + (k * across + j) * kCells,
                         to.mutable_data_ptr<float>() + (i * across + j) * kCells);
        }
      },
      tiles_of(left).values, tiles_of(right).values, tiles_of(result).values);
  return result;
}

// Element by element, so the order of the elements does not matter. The cells around
// the matrix stay zero, because relu(0) is 0.
Tensor relu(const Tensor& x) {
  const Tensor from = whole(x);
  const Tiles& tiles = tiles_of(from);
  return make_view({at::relu(tiles.values), tiles.rows, tiles.columns}, x.sizes(),
                   from.strides(), 0);
}

void record_stream(Tensor& x, c10::Stream stream) {
  tiles_of(x).values.record_stream(stream);
}

// Any other operator: plain copies of the arguments, and back into those it writes.
void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& schema = op.schema();
  for (const c10::Argument& result : schema.returns()) {
    const c10::AliasInfo* alias = result.alias_info();
    TORCH_CHECK(alias == nullptr || alias->isWrite(), "tiled: ", schema.name(),
                " would return a view, and there is no kernel for it. Call it with "
                "torch.ops.tiled.unpack(x)");
  }
  struct Written {
    Tensor tiled, plain;
    const void* address;
  };
  std::vector<Written> written;
  const auto replace = [&](const Tensor& x, bool is_written) {
    if (!is_tiled(x)) {
      return x;
    }
    const Tensor plain = to_plain(x);
    if (is_written) {
      written.push_back({x, plain, plain.const_data_ptr()});
    }
    return plain;
  };
  const size_t count = schema.arguments().size();
  for (const auto index : c10::irange(count)) {
    c10::IValue& value = torch::jit::peek(*stack, index, count);
    const c10::AliasInfo* alias = schema.arguments()[index].alias_info();
    const bool is_written = alias != nullptr && alias->isWrite();
    if (value.isTensor()) {
      value = replace(value.toTensor(), is_written);
    } else if (value.isTensorList()) {
      std::vector<Tensor> plain;
      for (const Tensor& x : value.toTensorVector()) {
        plain.push_back(replace(x, is_written));
      }
      value = plain;
    } else if (value.isOptionalTensorList()) {
      c10::List<std::optional<Tensor>> plain;
      for (const std::optional<Tensor> x : value.toOptionalTensorList()) {
        plain.push_back(x.has_value() ? std::optional(replace(*x, false)) : x);
      }
      value = plain;
    }
  }
  op.callBoxed(stack);
  for (const Written& one : written) {
    TORCH_CHECK(one.plain.sizes() == one.tiled.sizes() &&
                    one.plain.const_data_ptr() == one.address,
                "tiled: ", schema.name(), " gives its argument other memory, which a ",
                "tiled tensor cannot take");
    one.tiled.copy_(one.plain);
    for (const auto index : c10::irange(schema.returns().size())) {
      c10::IValue& result = torch::jit::peek(*stack, index, schema.returns().size());
      if (result.isTensor() && result.toTensor().is_same(one.plain)) {
        result = one.tiled;
      }
    }
  }
}

Tensor tiles(const Tensor& x) {
  TORCH_CHECK(is_tiled(x), "tiled::tiles: expected a tensor that tiled::pack made");
  return tiles_of(x).values;
}

}  // namespace

// LITERALINCLUDE START: TILED_REGISTER
TORCH_LIBRARY(tiled, m) {
  m.def("pack(Tensor x, *, bool storage=False) -> Tensor", &pack);  // (1)
  m.def("unpack(Tensor x) -> Tensor", &unpack);
  m.def("tiles(Tensor(a) x) -> Tensor(a)", &tiles);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse2, m) {  // (2)
  m.impl("_copy_from", &copy_from);
  m.impl("empty_like", &empty_like);
  m.impl("clone", &clone);
  m.impl("as_strided", &view_of);
  m.impl("view", &view);
  m.impl("_unsafe_view", &view);
  m.impl("_reshape_alias", &reshape_alias);
  m.impl("alias", &alias);
  m.impl("mm", &mm);
  m.impl("relu", &relu);
  m.impl("record_stream", &record_stream);
}

TORCH_LIBRARY_IMPL(_, PrivateUse2, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>());
}
// LITERALINCLUDE END: TILED_REGISTER

}  // namespace tiled
