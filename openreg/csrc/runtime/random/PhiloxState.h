// The random state that generators, captures and kernels share; see
// docs/runtime/generator.md.
#pragma once

#include <c10/core/GeneratorImpl.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <mutex>

namespace openreg {

// LITERALINCLUDE START: PHILOX_STATE
// The part of a generator that a kernel needs: the key, and its first counter.
struct PhiloxState {
  uint64_t seed = c10::default_rng_seed_val;
  uint64_t offset = 0;  // in blocks of 128 bits
};

// The words of a generator. Several generators may share them: see graphsafe_get_state.
// Therefore they have a separate lock.
class PhiloxGeneratorState final : public c10::intrusive_ptr_target {
 public:
  explicit PhiloxGeneratorState(PhiloxState words = {}) : words_(words) {}
  PhiloxState get() const;
  void set(PhiloxState words);
  void set_offset(uint64_t offset);
  PhiloxState reserve(uint64_t blocks);  // (1)

 private:
  mutable std::mutex mutex_;  // (2)
  PhiloxState words_;
};
// LITERALINCLUDE END: PHILOX_STATE

// LITERALINCLUDE START: PHILOX_SOURCE
// What a launch passes to a kernel from a generator: a state, by value. In a captured
// graph it is an address instead, because each replay has another state: there is the
// state of the whole graph, and the kernel starts `relative.offset` blocks behind.
class PhiloxKernelState {
 public:
  PhiloxKernelState(PhiloxState state) : state_(state) {}
  PhiloxKernelState(PhiloxState relative, const void* of_graph)
      : state_(relative), of_graph_(of_graph) {}

  // The state; of a graph, what it is behind the one at `of_graph()`.
  PhiloxState state() const { return state_; }
  // Device memory, which the graph keeps; null outside of a graph.
  const void* of_graph() const { return of_graph_; }

 private:
  PhiloxState state_;
  const void* of_graph_ = nullptr;
};
// LITERALINCLUDE END: PHILOX_SOURCE

}  // namespace openreg
