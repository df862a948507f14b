// The collectives, by their arguments; see docs/modules/distributed.md.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/clone.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mul.h>

#include <numeric>

#include "csrc/distributed/Checks.h"
#include "csrc/distributed/ProcessGroupOCCL.h"
#include "csrc/runtime/OpenRegFunctions.h"

namespace openreg {
namespace {

using c10d::OpType;
using Tensors = ProcessGroupOCCL::Tensors;
using Lists = ProcessGroupOCCL::Lists;

Tensors flatten(const Lists& lists) {
  Tensors result;
  for (const Tensors& list : lists) {
    result.insert(result.end(), list.begin(), list.end());
  }
  return result;
}

// Takes apart again what flatten() has joined: `count` lists of one length.
Lists lists_of(const Tensors& tensors, size_t count) {
  const size_t length = tensors.size() / count;
  Lists result;
  for (size_t i = 0; i < count; ++i) {
    const auto begin = tensors.begin() + static_cast<std::ptrdiff_t>(i * length);
    result.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(length));
  }
  return result;
}

std::vector<int64_t> joined(std::vector<int64_t> a, const std::vector<int64_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

int64_t number(const c10d::ReduceOp& op) { return static_cast<int64_t>(op.op_); }

// LITERALINCLUDE START: OCCL_PREMUL
// PREMUL_SUM is SUM of what each rank has multiplied by a factor of its own: a number,
// or a tensor of one element. Multiplies on the current stream, into the caller's
// tensors if they are also the outputs.
c10d::ReduceOp multiplied(const c10d::ReduceOp& op, Tensors& inputs, bool in_place) {
  if (op.op_ != c10d::ReduceOp::PREMUL_SUM) {
    return op;
  }
  const at::NoGradGuard no_grad;
  const auto& by = static_cast<const c10d::PreMulSumSupplement&>(*op.supplement_);
  for (at::Tensor& input : inputs) {
    const at::Tensor product = by.tensor_factor.defined()
                                   ? at::mul(input, by.tensor_factor.reshape({}))
                                   : at::mul(input, at::Scalar(by.double_factor));
    if (in_place) {
      input.copy_(product);
    } else {
      input = product.to(input.scalar_type());
    }
  }
  return c10d::ReduceOp::SUM;
}
// LITERALINCLUDE END: OCCL_PREMUL

}  // namespace

// LITERALINCLUDE START: OCCL_BROADCAST
ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::broadcast(
    Tensors& tensors, const c10d::BroadcastOptions& options) {
  constexpr const char* kName = "occl::broadcast";
  check_single(kName, tensors.size());
  check_rank(kName, options.rootRank, getSize());
  return collective({.name = kName,
                     .type = OpType::BROADCAST,
                     .outputs = tensors,
                     .inputs = {},
                     .share = tensors,
                     .timeout = options.timeout,
                     .root = options.rootRank},
                    [options](Backend& carrier, Tensors& out, Tensors&) {
                      return carrier.broadcast(out, options);
                    });
}
// LITERALINCLUDE END: OCCL_BROADCAST

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::allreduce(
    Tensors& tensors, const c10d::AllreduceOptions& options) {
  check_single("occl::all_reduce", tensors.size());
  c10d::AllreduceCoalescedOptions coalesced;
  coalesced.reduceOp = options.reduceOp;
  coalesced.timeout = options.timeout;
  return allreduce_coalesced(tensors, coalesced);
}

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::allreduce_coalesced(
    Tensors& tensors, const c10d::AllreduceCoalescedOptions& given) {
  constexpr const char* kName = "occl::all_reduce";
  check_tensors(kName, tensors);
  check_reduction(kName, given.reduceOp, tensors[0].scalar_type());
  auto options = given;
  options.reduceOp = multiplied(given.reduceOp, tensors, true);
  return collective(
      {.name = kName,
       .type = OpType::ALLREDUCE,
       .outputs = tensors,
       .inputs = {},
       .share = tensors,
       .timeout = options.timeout,
       .reduce = number(options.reduceOp),
       .on_board = [op = options.reduceOp](
                       const Tensors& out) { return reduce_from_board(out, op); }},
      [options](Backend& carrier, Tensors& out, Tensors&) {
        return out.size() == 1 ? carrier.allreduce(out, options)
                               : carrier.allreduce_coalesced(out, options);
      });
}

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::reduce(Tensors& tensors,
                                                   const c10d::ReduceOptions& given) {
  constexpr const char* kName = "occl::reduce";
  check_single(kName, tensors.size());
  check_rank(kName, given.rootRank, getSize());
  check_tensors(kName, tensors);
  check_reduction(kName, given.reduceOp, tensors[0].scalar_type());
  auto options = given;
  const bool root = given.rootRank == getRank();
  options.reduceOp = multiplied(given.reduceOp, tensors, root);
  return collective({.name = kName,
                     .type = OpType::REDUCE,
                     .outputs = tensors,
                     .inputs = {},
                     .share = tensors,
                     .timeout = options.timeout,
                     .root = options.rootRank,
                     .reduce = number(options.reduceOp)},
                    [options, root](Backend& carrier, Tensors& out, Tensors&) {
                      // Gloo leaves sums of some ranks in the tensors of the others.
                      Tensors scratch{root ? out[0] : out[0].clone()};
                      return carrier.reduce(scratch, options);
                    });
}

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::allgather(
    Lists& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) {
  constexpr const char* kName = "occl::all_gather";
  check_single(kName, inputs.size());
  check_single(kName, outputs.size());
  check_list(kName, outputs[0], getSize(), inputs[0]);
  return collective({.name = kName,
                     .type = OpType::ALLGATHER,
                     .outputs = outputs[0],
                     .inputs = inputs,
                     .share = inputs,
                     .timeout = options.timeout,
                     .on_board =
                         [](const Tensors& out) {
                           return gather_from_board(lists_of(out, out.size()));
                         }},
                    [options](Backend& carrier, Tensors& out, Tensors& in) {
                      Lists lists{out};
                      return carrier.allgather(lists, in, options);
                    });
}

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::_allgather_base(
    at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& options) {
  Tensors outputs{output}, inputs{input};
  return allgather_into_tensor_coalesced(outputs, inputs, options);
}

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::allgather_into_tensor_coalesced(
    Tensors& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) {
  constexpr const char* kName = "occl::all_gather_into_tensor";
  TORCH_CHECK_VALUE(outputs.size() == inputs.size(), kName, " got ", inputs.size(),
                    " inputs and ", outputs.size(), " outputs");
  for (size_t i = 0; i < inputs.size(); ++i) {
    check_whole(kName, outputs[i], getSize(), inputs[i]);
  }
  return collective({.name = kName,
                     .type = OpType::_ALLGATHER_BASE,
                     .outputs = outputs,
                     .inputs = inputs,
                     .share = inputs,
                     .timeout = options.timeout,
                     .on_board =
                         [ranks = getSize()](const Tensors& out) {
                           Lists parts(ranks);
                           for (const at::Tensor& whole : out) {
                             const Tensors chunks = whole.chunk(ranks);
                             for (int rank = 0; rank < ranks; ++rank) {
                               parts[rank].push_back(chunks[rank]);
                             }
                           }
                           return gather_from_board(parts);
                         }},
                    [options](Backend& carrier, Tensors& out, Tensors& in) {
                      return carrier.allgather_into_tensor_coalesced(out, in, options);
                    });
}

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::allgather_coalesced(
    Lists& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) {
  constexpr const char* kName = "occl::all_gather_coalesced";
  const auto ranks = static_cast<size_t>(getSize());
  TORCH_CHECK_VALUE(outputs.size() == ranks, kName, " takes a list for each of ", ranks,
                    " ranks, but got ", outputs.size());
  for (const Tensors& list : outputs) {
    TORCH_CHECK_VALUE(list.size() == inputs.size(), kName, " got ", inputs.size(),
                      " inputs and a list of ", list.size(), " outputs");
    for (size_t i = 0; i < list.size(); ++i) {
      check_whole(kName, list[i], 1, inputs[i]);
    }
  }
  return collective({.name = kName,
                     .type = OpType::ALLGATHER_COALESCED,
                     .outputs = flatten(outputs),
                     .inputs = inputs,
                     .share = inputs,
                     .timeout = options.timeout,
                     .on_board =
                         [ranks](const Tensors& out) {
                           return gather_from_board(lists_of(out, ranks));
                         }},
                    [options, ranks](Backend& carrier, Tensors& out, Tensors& in) {
                      Lists lists = lists_of(out, ranks);
                      return carrier.allgather_coalesced(lists, in, options);
                    });
}

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::gather(Lists& outputs, Tensors& inputs,
                                                   const c10d::GatherOptions& options) {
  constexpr const char* kName = "occl::gather";
  check_single(kName, inputs.size());
  check_rank(kName, options.rootRank, getSize());
  const bool root = options.rootRank == getRank();
  TORCH_CHECK_VALUE(outputs.size() == (root ? 1 : 0), kName,
                    " takes a list of outputs on the root, rank ", options.rootRank,
                    ", and none elsewhere");
  if (root) {
    check_list(kName, outputs[0], getSize(), inputs[0]);
  }
  return collective({.name = kName,
                     .type = OpType::GATHER,
                     .outputs = root ? outputs[0] : Tensors{},
                     .inputs = inputs,
                     .share = inputs,
                     .timeout = options.timeout,
                     .root = options.rootRank},
                    [options, root](Backend& carrier, Tensors& out, Tensors& in) {
                      Lists lists = root ? Lists{out} : Lists{};
                      return carrier.gather(lists, in, options);
                    });
}

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::scatter(
    Tensors& outputs, Lists& inputs, const c10d::ScatterOptions& options) {
  constexpr const char* kName = "occl::scatter";
  check_single(kName, outputs.size());
  check_rank(kName, options.rootRank, getSize());
  const bool root = options.rootRank == getRank();
  TORCH_CHECK_VALUE(inputs.size() == (root ? 1 : 0), kName,
                    " takes a list of inputs on the root, rank ", options.rootRank,
                    ", and none elsewhere");
  if (root) {
    check_list(kName, inputs[0], getSize(), outputs[0]);
  }
  return collective({.name = kName,
                     .type = OpType::SCATTER,
                     .outputs = outputs,
                     .inputs = root ? inputs[0] : Tensors{},
                     .share = outputs,
                     .timeout = options.timeout,
                     .root = options.rootRank},
                    [options, root](Backend& carrier, Tensors& out, Tensors& in) {
                      Lists lists = root ? Lists{in} : Lists{};
                      return carrier.scatter(out, lists, options);
                    });
}

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::reduce_scatter(
    Tensors& outputs, Lists& inputs, const c10d::ReduceScatterOptions& given) {
  constexpr const char* kName = "occl::reduce_scatter";
  check_single(kName, outputs.size());
  check_single(kName, inputs.size());
  check_list(kName, inputs[0], getSize(), outputs[0]);
  check_reduction(kName, given.reduceOp, outputs[0].scalar_type());
  auto options = given;
  options.reduceOp = multiplied(given.reduceOp, inputs[0], false);
  return collective({.name = kName,
                     .type = OpType::REDUCE_SCATTER,
                     .outputs = outputs,
                     .inputs = inputs[0],
                     .share = outputs,
                     .timeout = options.timeout,
                     .reduce = number(options.reduceOp)},
                    [options](Backend& carrier, Tensors& out, Tensors& in) {
                      Lists lists{in};
                      return carrier.reduce_scatter(out, lists, options);
                    });
}

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::_reduce_scatter_base(
    at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& options) {
  Tensors outputs{output}, inputs{input};
  return reduce_scatter_tensor_coalesced(outputs, inputs, options);
}

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::reduce_scatter_tensor_coalesced(
    Tensors& outputs, Tensors& inputs, const c10d::ReduceScatterOptions& given) {
  constexpr const char* kName = "occl::reduce_scatter_tensor";
  TORCH_CHECK_VALUE(outputs.size() == inputs.size(), kName, " got ", inputs.size(),
                    " inputs and ", outputs.size(), " outputs");
  for (size_t i = 0; i < inputs.size(); ++i) {
    check_whole(kName, inputs[i], getSize(), outputs[i]);
    check_reduction(kName, given.reduceOp, outputs[i].scalar_type());
  }
  auto options = given;
  options.reduceOp = multiplied(given.reduceOp, inputs, false);
  return collective({.name = kName,
                     .type = OpType::_REDUCE_SCATTER_BASE,
                     .outputs = outputs,
                     .inputs = inputs,
                     .share = outputs,
                     .timeout = options.timeout,
                     .reduce = number(options.reduceOp)},
                    [options](Backend& carrier, Tensors& out, Tensors& in) {
                      return carrier.reduce_scatter_tensor_coalesced(out, in, options);
                    });
}

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::alltoall_base(
    at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_splits,
    std::vector<int64_t>& input_splits, const c10d::AllToAllOptions& options) {
  constexpr const char* kName = "occl::all_to_all_single";
  const auto sent = bytes_per_rank(kName, input, input_splits, getSize());
  const auto expected = bytes_per_rank(kName, output, output_splits, getSize());
  return collective(
      {.name = kName,
       .type = OpType::ALLTOALL_BASE,
       .outputs = {output},
       .inputs = {input},
       .share = {},
       .timeout = options.timeout,
       .splits = joined(sent, expected)},
      [options, sent, expected](Backend& carrier, Tensors& out, Tensors& in) {
        std::vector<int64_t> to(expected), from(sent);
        return carrier.alltoall_base(out[0], in[0], to, from, options);
      });
}

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::alltoall(
    Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& options) {
  constexpr const char* kName = "occl::all_to_all";
  const auto ranks = static_cast<size_t>(getSize());
  TORCH_CHECK_VALUE(inputs.size() == ranks && outputs.size() == ranks, kName,
                    " takes one input and one output for each of ", ranks,
                    " ranks, but got ", inputs.size(), " and ", outputs.size());
  std::vector<int64_t> sent, expected;
  for (size_t rank = 0; rank < ranks; ++rank) {
    sent.push_back(static_cast<int64_t>(inputs[rank].nbytes()));
    expected.push_back(static_cast<int64_t>(outputs[rank].nbytes()));
  }
  return collective(
      {.name = kName,
       .type = OpType::ALLTOALL,
       .outputs = outputs,
       .inputs = inputs,
       .share = {},
       .timeout = options.timeout,
       .splits = joined(sent, expected)},
      [options, sent, expected](Backend& carrier, Tensors& out, Tensors& in) {
        // Gloo's own wants equal sizes.
        at::Tensor from = at::cat(in);
        at::Tensor to = at::empty(
            {std::accumulate(expected.begin(), expected.end(), int64_t{0})}, at::kByte);
        std::vector<int64_t> counts_to(expected), counts_from(sent);
        const WorkPtr work =
            carrier.alltoall_base(to, from, counts_to, counts_from, options);
        work->wait();
        const Tensors parts = to.split_with_sizes(expected);
        for (size_t rank = 0; rank < parts.size(); ++rank) {
          out[rank].copy_(parts[rank]);
        }
        return work;
      });
}

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::barrier(
    const c10d::BarrierOptions& options) {
  Collective call{
      .name = "occl::barrier",
      .type = OpType::BARRIER,
      .outputs = {},
      .inputs = {},
      .share = {},
      .timeout = options.timeout,
      .on_board =
          [](const Tensors&) { return Take([](const Board&, size_t, size_t) {}); },
      .host_waits = true};
  const auto index =
      options.device && options.device->has_index() ? options.device->index()
      : options.device_ids.empty() ? current_device()
                                   : c10::checked_convert<c10::DeviceIndex>(
                                         options.device_ids[0], "c10::DeviceIndex");
  check_device_index(index);
  call.device.set_index(index);
  return collective(std::move(call), [](Backend& carrier, Tensors&, Tensors&) {
    return carrier.barrier({});
  });
}

}  // namespace openreg
