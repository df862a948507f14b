// Operators of the backend that are written by hand, by family; see
// docs/operators/registration.md. Those of layers are in NativeLayers.h.
//
// The signatures are those of the schemas in torch's native_functions.yaml.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <c10/util/OptionalArrayRef.h>
#include <torch/library.h>

#include <optional>
#include <tuple>

#include "csrc/Export.h"

namespace openreg {

// ---- Minimal set ----

// ops/Factory.cpp
OPENREG_EXPORT at::Tensor empty(at::IntArrayRef size,
                                std::optional<at::ScalarType> dtype,
                                std::optional<at::Layout> layout,
                                std::optional<at::Device> device,
                                std::optional<bool> pin_memory,
                                std::optional<at::MemoryFormat> memory_format);
OPENREG_EXPORT at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride,
                                        std::optional<at::ScalarType> dtype,
                                        std::optional<at::Layout> layout,
                                        std::optional<at::Device> device,
                                        std::optional<bool> pin_memory);
const at::Tensor& resize_(const at::Tensor& self, at::IntArrayRef size,
                          std::optional<at::MemoryFormat> memory_format);
at::Tensor& set_(at::Tensor& self);
at::Tensor& set_source_storage_(at::Tensor& self, at::Storage source);
at::Tensor& set_source_storage_offset_(at::Tensor& self, at::Storage source,
                                       int64_t storage_offset, at::IntArrayRef size,
                                       at::IntArrayRef stride);
at::Tensor& set_source_tensor_(at::Tensor& self, const at::Tensor& source);

// ops/View.cpp
at::Tensor as_strided(const at::Tensor& self, at::IntArrayRef size,
                      at::IntArrayRef stride, std::optional<int64_t> storage_offset);
at::Tensor view(const at::Tensor& self, at::IntArrayRef size);
at::Tensor reshape_alias(const at::Tensor& self, at::IntArrayRef size,
                         at::IntArrayRef stride);
at::Tensor unfold(const at::Tensor& self, int64_t dimension, int64_t size,
                  int64_t step);
at::Tensor view_as_real(const at::Tensor& self);
at::Tensor view_as_complex(const at::Tensor& self);
bool is_set_to(const at::Tensor& self, const at::Tensor& tensor);
bool has_compatible_shallow_copy_type(const at::Tensor& self, const at::Tensor& from);

// ops/Copy.cpp
// Copies `self` to `dst`, at least one of them on an openreg device, broadcasting and
// converting the dtype. Waits unless `non_blocking` and the memory allows it.
at::Tensor copy_from(const at::Tensor& self, const at::Tensor& dst, bool non_blocking);
// The same, after giving `dst` the sizes of `self`.
at::Tensor copy_from_and_resize(const at::Tensor& self, const at::Tensor& dst);
// The value of a tensor of one element; waits for it.
at::Scalar local_scalar_dense(const at::Tensor& self);
// Notes in the allocator that work on `stream` uses the memory of `self`.
void record_stream(at::Tensor& self, at::Stream stream);

// ---- Elementwise ----

// ops/Add.cpp
at::Tensor add(const at::Tensor& self, const at::Tensor& other,
               const at::Scalar& alpha);
at::Tensor& add_(at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha);
at::Tensor& add_out(const at::Tensor& self, const at::Tensor& other,
                    const at::Scalar& alpha, at::Tensor& out);

// ops/Fill.cpp
at::Tensor& fill_scalar_(at::Tensor& self, const at::Scalar& value);
at::Tensor& fill_tensor_(at::Tensor& self, const at::Tensor& value);
at::Tensor& zero_(at::Tensor& self);

// ---- Indexing ----

// ops/Indexing.cpp
using IndexList = c10::List<std::optional<at::Tensor>>;

// Warns, as the CPU does, if elements of `self`, which `name` writes, share memory: the
// result depends on the order. `also`: the end of the sentence.
void warn_of_expanded(const char* name, const at::Tensor& self, const char* also);

at::Tensor index(const at::Tensor& self, const IndexList& indices);
at::Tensor& index_out(const at::Tensor& self, const IndexList& indices,
                      at::Tensor& out);
at::Tensor& index_put_impl_(at::Tensor& self, const IndexList& indices,
                            const at::Tensor& values, bool accumulate, bool unsafe);
at::Tensor index_select(const at::Tensor& self, int64_t dim, const at::Tensor& index);
at::Tensor isin_scalar(const at::Scalar& element, const at::Tensor& tests,
                       bool assume_unique, bool invert);
at::Tensor& isin_scalar_out(const at::Scalar& element, const at::Tensor& tests,
                            bool assume_unique, bool invert, at::Tensor& out);
at::Tensor& index_select_out(const at::Tensor& self, int64_t dim,
                             const at::Tensor& index, at::Tensor& out);
at::Tensor embedding_dense_backward(const at::Tensor& grad_output,
                                    const at::Tensor& indices, int64_t num_weights,
                                    int64_t padding_idx, bool scale_grad_by_freq);
at::Tensor& masked_fill_scalar_(at::Tensor& self, const at::Tensor& mask,
                                const at::Scalar& value);
at::Tensor& masked_fill_tensor_(at::Tensor& self, const at::Tensor& mask,
                                const at::Tensor& value);

// As on CUDA: an index that is a mask. The host waits for the number of elements.
at::Tensor masked_select(const at::Tensor& self, const at::Tensor& mask);
at::Tensor& masked_select_out(const at::Tensor& self, const at::Tensor& mask,
                              at::Tensor& out);

// The number of rows is known only when the device has counted: the host waits.
at::Tensor nonzero(const at::Tensor& self);
at::Tensor& nonzero_out(const at::Tensor& self, at::Tensor& out);

// ops/IndexedUpdate.cpp
void register_indexed_updates(torch::Library& m);

// ops/Unique.cpp
void register_unique(torch::Library& m);

// ---- Random numbers ----

// ops/Random*.cpp
using OptionalGenerator = std::optional<at::Generator>;

// RandomContinuous.cpp
at::Tensor& uniform_(at::Tensor& self, double from, double to, OptionalGenerator);
at::Tensor& normal_(at::Tensor& self, double mean, double std, OptionalGenerator);
at::Tensor& log_normal_(at::Tensor& self, double mean, double std, OptionalGenerator);
at::Tensor& exponential_(at::Tensor& self, double lambda, OptionalGenerator);
at::Tensor& cauchy_(at::Tensor& self, double median, double sigma, OptionalGenerator);

// The same file: mean, std or both are tensors.
at::Tensor normal_tensor_float(const at::Tensor& mean, double std, OptionalGenerator);
at::Tensor normal_float_tensor(double mean, const at::Tensor& std, OptionalGenerator);
at::Tensor normal_tensor_tensor(const at::Tensor& mean, const at::Tensor& std,
                                OptionalGenerator);
at::Tensor& normal_tensor_float_out(const at::Tensor& mean, double std,
                                    OptionalGenerator, at::Tensor& out);
at::Tensor& normal_float_tensor_out(double mean, const at::Tensor& std,
                                    OptionalGenerator, at::Tensor& out);
at::Tensor& normal_tensor_tensor_out(const at::Tensor& mean, const at::Tensor& std,
                                     OptionalGenerator, at::Tensor& out);

// RandomDiscrete.cpp
at::Tensor& random_(at::Tensor& self, OptionalGenerator);
at::Tensor& random_from_(at::Tensor& self, int64_t from, std::optional<int64_t> to,
                         OptionalGenerator);
at::Tensor& random_to_(at::Tensor& self, int64_t to, OptionalGenerator);
at::Tensor& bernoulli_float_(at::Tensor& self, double p, OptionalGenerator);
at::Tensor& bernoulli_tensor_(at::Tensor& self, const at::Tensor& p, OptionalGenerator);
at::Tensor& bernoulli_out(const at::Tensor& p, OptionalGenerator, at::Tensor& out);
at::Tensor& geometric_(at::Tensor& self, double p, OptionalGenerator);
at::Tensor& randperm_out(int64_t n, OptionalGenerator, at::Tensor& out);

// RandomMultinomial.cpp
at::Tensor multinomial(const at::Tensor& probabilities, int64_t samples,
                       bool replacement, OptionalGenerator);
at::Tensor& multinomial_out(const at::Tensor& probabilities, int64_t samples,
                            bool replacement, OptionalGenerator, at::Tensor& out);

// RandomSamplers.cpp: each element takes as many random numbers as it needs.
at::Tensor poisson(const at::Tensor& rate, OptionalGenerator);
at::Tensor binomial(const at::Tensor& count, const at::Tensor& probability,
                    OptionalGenerator);
at::Tensor standard_gamma(const at::Tensor& alpha, OptionalGenerator);
at::Tensor sample_dirichlet(const at::Tensor& alpha, OptionalGenerator);

// RandomDropout.cpp
std::tuple<at::Tensor, at::Tensor> native_dropout(const at::Tensor& input, double p,
                                                  std::optional<bool> train);
at::Tensor native_dropout_backward(const at::Tensor& grad, const at::Tensor& mask,
                                   double scale);
at::Tensor rrelu_with_noise(const at::Tensor& self, at::Tensor& noise,
                            const at::Scalar& lower, const at::Scalar& upper,
                            bool training, OptionalGenerator);
at::Tensor& rrelu_with_noise_(at::Tensor& self, at::Tensor& noise,
                              const at::Scalar& lower, const at::Scalar& upper,
                              bool training, OptionalGenerator);
at::Tensor& rrelu_with_noise_out(const at::Tensor& self, at::Tensor& noise,
                                 const at::Scalar& lower, const at::Scalar& upper,
                                 bool training, OptionalGenerator, at::Tensor& out);

// ---- Sparse ----

// ops/SparseIndices.cpp
at::Tensor coo_to_csr_indices(const at::Tensor& self, int64_t size, bool out_int32);
at::Tensor csr_to_coo_indices(const at::Tensor& compressed, const at::Tensor& plain,
                              bool out_int32, bool transpose);

// Throws unless the indices are those of a compressed tensor. Torch asks where a
// program wants the invariants of sparse tensors checked; the host waits for the
// answer.
void validate_compressed_indices(bool is_crow, const at::Tensor& compressed,
                                 const at::Tensor& plain, int64_t compressed_dim,
                                 int64_t dim, int64_t nnz);

// ops/SparseProducts.cpp
at::Tensor coo_addmm(const at::Tensor& self, const at::Tensor& mat1,
                     const at::Tensor& mat2, const at::Scalar& beta,
                     const at::Scalar& alpha);
at::Tensor& coo_addmm_(at::Tensor& self, const at::Tensor& mat1, const at::Tensor& mat2,
                       const at::Scalar& beta, const at::Scalar& alpha);
at::Tensor& coo_addmm_out(const at::Tensor& self, const at::Tensor& mat1,
                          const at::Tensor& mat2, const at::Scalar& beta,
                          const at::Scalar& alpha, at::Tensor& out);
at::Tensor& coo_add_out(const at::Tensor& self, const at::Tensor& other,
                        const at::Scalar& alpha, at::Tensor& out);
at::Tensor& coo_mul_out(const at::Tensor& self, const at::Tensor& other,
                        at::Tensor& out);

at::Tensor& compressed_addmm_out(const at::Tensor& self, const at::Tensor& mat1,
                                 const at::Tensor& mat2, const at::Scalar& beta,
                                 const at::Scalar& alpha, at::Tensor& out);
at::Tensor& compressed_add_out(const at::Tensor& self, const at::Tensor& other,
                               const at::Scalar& alpha, at::Tensor& out);
at::Tensor csr_sampled_addmm(const at::Tensor& self, const at::Tensor& mat1,
                             const at::Tensor& mat2, const at::Scalar& beta,
                             const at::Scalar& alpha);

// ---- Autograd ----

// ops/CosineSimilarity.cpp
// The signatures are those of the schema in native_functions.yaml.
at::Tensor cosine_similarity_autograd(const at::Tensor& x1, const at::Tensor& x2,
                                      int64_t dim, double eps);

}  // namespace openreg
