// Runs a function of the CPU as a kernel of the device; see
// docs/operators/borrowed-kernels.md.
#pragma once

#include <type_traits>

#include "csrc/kernels/cpu/Argument.h"
#include "csrc/kernels/cpu/HostKernel.h"
#include "csrc/kernels/cpu/Trial.h"

namespace openreg::cpu {

// Properties of a launch besides its arguments.
struct Options {
  Options(const char* name, Precision reads = Precision::Ignored,
          at::ScalarType common = at::ScalarType::Undefined)
      : name(name), reads(reads), common(common) {}

  const char* name;       // a literal; errors and traces show it
  Precision reads;        // whether the function reads the float32 precision
  at::ScalarType common;  // in which an iterator computes
};

// Calls a function that takes an at::Tensor& with tensors that nothing else holds.
template <class Function, class... Args>
void call_with(const Function& function, Args&&... args) {
  function(args...);
}

// Launches functions of one signature.
template <class Function, class... Parameters>
struct Launcher {
  template <class P>
  using Given = typename Argument<P>::Given;

  static void launch(const Options& options, Function function,
                     const Given<Parameters>&... args) {
    Operands operands;
    (Argument<Parameters>::add_to(operands, args), ...);
    enqueue(options, operands.device(options.name), kAsTheyAre, function, args...);
  }

  // LITERALINCLUDE START: CALL
  static void call(Trial& trial, const Options& options, Function function,
                   const Given<Parameters>&... args) {
    Operands operands(options.common);
    (Argument<Parameters>::add_to(operands, args), ...);
    const c10::Device device = operands.device(options.name);
    const bool fit = operands.numbers_fit(operands.dtype());
    const uint64_t signature = operands.signature() ^ address_of(function);
    if (C10_UNLIKELY(!fit || !trial.has_passed(signature))) {
      const bool passed = run_trial(options.name, [&] { attempt(function, args...); });
      if (passed && fit) {  // else other numbers or sizes may not pass
        trial.remember(signature);
      }
    }
    if (operands.has_work()) {
      enqueue(options, device, operands.converted(), function, args...);
    }
  }
  // LITERALINCLUDE END: CALL

 private:
  static constexpr at::ScalarType kAsTheyAre = at::ScalarType::Undefined;

  // LITERALINCLUDE START: TASK
  static void enqueue(const Options& options, c10::Device device, at::ScalarType inputs,
                      Function function, const Given<Parameters>&... args) {
    launch_on(
        options.name, device,
        [function, inputs, ... captured = Argument<Parameters>::capture(args)] {
          Aliases aliases;  // from here on, on the device
          (add_written<Parameters>(captured, aliases), ...);
          call_with(function, argument<Parameters>(captured, aliases, inputs)...);
        },
        options.reads);
  }
  // LITERALINCLUDE END: TASK

  // Outputs come first: an input may be the same tensor.
  template <class Parameter, class Captured>
  static void add_written(const Captured& value, Aliases& aliases) {
    if constexpr (std::is_same_v<Parameter, at::Tensor&> ||
                  std::is_same_v<Parameter, Copied&>) {
      aliases.of(value);
    }
  }

  template <class Parameter, class Captured>
  static decltype(auto) argument(const Captured& value, Aliases& aliases,
                                 at::ScalarType inputs) {
    if constexpr (std::is_same_v<Parameter, const at::Tensor&>) {
      at::Tensor tensor = Argument<Parameter>::alias(value, aliases);
      return inputs == at::ScalarType::Undefined ? tensor : tensor.to(inputs);
    } else {
      return Argument<Parameter>::alias(value, aliases);
    }
  }

  static void attempt(Function function, const Given<Parameters>&... args) {
    Shrink shrink;
    (add_sizes<Parameters>(shrink, args), ...);
    shrink.end_of_arguments();
    call_with(function, Argument<Parameters>::tiny(args, shrink)...);
  }

  template <class Parameter, class Value>
  static void add_sizes(Shrink& shrink, const Value& value) {
    if constexpr (requires { Argument<Parameter>::sizes(shrink, value); }) {
      Argument<Parameter>::sizes(shrink, value);
    }
  }

  static uint64_t address_of(Function function) {
    if constexpr (std::is_pointer_v<Function>) {
      return reinterpret_cast<uint64_t>(function);
    }
    return 0;
  }
};

template <class Function>
struct LauncherOf : LauncherOf<decltype(&Function::operator())> {};
template <class Result, class... Parameters>
struct LauncherOf<Result (*)(Parameters...)> {
  template <class Function>
  using For = Launcher<Function, Parameters...>;
};
template <class Class, class Result, class... Parameters>
struct LauncherOf<Result (Class::*)(Parameters...) const> {
  template <class Function>
  using For = Launcher<Function, Parameters...>;
};

// A lambda without captures becomes a pointer: so one class serves all of a signature.
template <class Function>
auto as_pointer(Function function) {
  if constexpr (requires { +function; }) {
    return +function;
  } else {
    return function;
  }
}

// LITERALINCLUDE START: LAUNCH
// Enqueues `function(args...)` on the current stream of the device of the tensors, and
// returns. The function runs later, on a thread of the device, with CPU tensors over
// the device's memory. It writes the tensors that it takes as at::Tensor&.
template <class Function, class... Args>
void launch(const Options& options, Function function, const Args&... args) {
  auto pointer = as_pointer(function);
  using Pointer = decltype(pointer);
  LauncherOf<Pointer>::template For<Pointer>::launch(options, pointer, args...);
}
// LITERALINCLUDE END: LAUNCH

// The same for a function of ATen that may not take these dtypes: throws on the host
// what it would throw on the device. Enqueues nothing if there is nothing to write.
template <class Function, class... Args>
void call(const Options& options, Function function, const Args&... args) {
  static Trial& trial = *new Trial;  // other threads may launch while the process ends
  auto pointer = as_pointer(function);
  using Pointer = decltype(pointer);
  LauncherOf<Pointer>::template For<Pointer>::call(trial, options, pointer, args...);
}

}  // namespace openreg::cpu
