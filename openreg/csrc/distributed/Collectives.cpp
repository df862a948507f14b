// The collectives, by their arguments; see docs/modules/distributed.md.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/mul.h>

#include <string>

#include "csrc/distributed/Checks.h"
#include "csrc/distributed/DataTypes.h"
#include "csrc/distributed/ProcessGroupOCCL.h"
#include "csrc/runtime/device/OpenRegFunctions.h"

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

// What the ranks cannot derive from messages of a collective in which they take no
// part.
std::string described(const at::Tensor& part, int64_t root) {
  return c10::str(part.numel(), " ", part.scalar_type(), ", root ", root);
}

// LITERALINCLUDE START: OCCL_PREMUL
// PREMUL_SUM is SUM of what each rank has multiplied by its own factor: a number,
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
  const auto root = static_cast<int>(options.rootRank);
  return collective(
      {.name = kName,
       .type = OpType::BROADCAST,
       .outputs = tensors,
       .inputs = root == getRank() ? tensors : Tensors{},
       .timeout = options.timeout},
      [&](occlComm_t comm, orStream_t stream) {
        const auto [data, count, dtype] = CommBuffer::of_bytes(tensors[0]);
        OCCL_CHECK(occlBroadcast(data, data, count, dtype, root, comm, stream));
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
    Tensors& tensors, const c10d::AllreduceCoalescedOptions& options) {
  constexpr const char* kName = "occl::all_reduce";
  check_tensors(kName, tensors);
  check_reduction(kName, options.reduceOp, tensors[0].scalar_type());
  const auto op =
      to_occl(multiplied(options.reduceOp, tensors, true), tensors[0].scalar_type());
  return collective(
      {.name = kName,
       .type = OpType::ALLREDUCE,
       .outputs = tensors,
       .inputs = tensors,
       .timeout = options.timeout},
      [&](occlComm_t comm, orStream_t stream) {
        for (const at::Tensor& tensor : tensors) {
          const auto [data, count, dtype] = CommBuffer::of_numbers(tensor);
          OCCL_CHECK(occlAllReduce(data, data, count, dtype, op, comm, stream));
        }
      });
}

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::reduce(Tensors& tensors,
                                                   const c10d::ReduceOptions& options) {
  constexpr const char* kName = "occl::reduce";
  check_single(kName, tensors.size());
  check_rank(kName, options.rootRank, getSize());
  check_tensors(kName, tensors);
  check_reduction(kName, options.reduceOp, tensors[0].scalar_type());
  const auto root = static_cast<int>(options.rootRank);
  const auto op = to_occl(multiplied(options.reduceOp, tensors, root == getRank()),
                          tensors[0].scalar_type());
  return collective(
      {.name = kName,
       .type = OpType::REDUCE,
       .outputs = tensors,
       .inputs = tensors,
       .timeout = options.timeout},
      [&](occlComm_t comm, orStream_t stream) {
        const auto [data, count, dtype] = CommBuffer::of_numbers(tensors[0]);
        OCCL_CHECK(occlReduce(data, data, count, dtype, op, root, comm, stream));
      });
}

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::gather_lists(
    const char* name, OpType type, const Lists& outputs, const Tensors& inputs,
    std::chrono::milliseconds timeout) {
  return collective(
      {.name = name,
       .type = type,
       .outputs = flatten(outputs),
       .inputs = inputs,
       .timeout = timeout},
      [&](occlComm_t comm, orStream_t stream) {
        // An all-gather needs one buffer for all ranks; a list has many.
        for (int root = 0; root < getSize(); ++root) {
          for (size_t i = 0; i < inputs.size(); ++i) {
            const auto [data, count, dtype] = CommBuffer::of_bytes(outputs[root][i]);
            OCCL_CHECK(occlBroadcast(CommBuffer::of_bytes(inputs[i]).data, data, count,
                                     dtype, root, comm, stream));
          }
        }
      });
}

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::allgather(
    Lists& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) {
  constexpr const char* kName = "occl::all_gather";
  check_single(kName, inputs.size());
  check_single(kName, outputs.size());
  check_uneven_list(kName, outputs[0], getSize(), getRank(), inputs[0]);
  Lists of_ranks;
  for (const at::Tensor& output : outputs[0]) {
    of_ranks.push_back({output});
  }
  return gather_lists(kName, OpType::ALLGATHER, of_ranks, inputs, options.timeout);
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
  return collective(
      {.name = kName,
       .type = OpType::_ALLGATHER_BASE,
       .outputs = outputs,
       .inputs = inputs,
       .timeout = options.timeout},
      [&](occlComm_t comm, orStream_t stream) {
        for (size_t i = 0; i < inputs.size(); ++i) {
          const auto [data, count, dtype] = CommBuffer::of_bytes(inputs[i]);
          OCCL_CHECK(occlAllGather(data, CommBuffer::of_bytes(outputs[i]).data, count,
                                   dtype, comm, stream));
        }
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
  return gather_lists(kName, OpType::ALLGATHER_COALESCED, outputs, inputs,
                      options.timeout);
}

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::gather(Lists& outputs, Tensors& inputs,
                                                   const c10d::GatherOptions& options) {
  constexpr const char* kName = "occl::gather";
  check_single(kName, inputs.size());
  check_rank(kName, options.rootRank, getSize());
  const auto root = static_cast<int>(options.rootRank);
  const bool is_root = root == getRank();
  TORCH_CHECK_VALUE(outputs.size() == (is_root ? 1 : 0), kName,
                    " takes a list of outputs on the root, rank ", root,
                    ", and none elsewhere");
  if (is_root) {
    check_list(kName, outputs[0], getSize(), inputs[0]);
  }
  // LITERALINCLUDE START: OCCL_GATHER
  return collective({.name = kName,
                     .type = OpType::GATHER,
                     .outputs = is_root ? outputs[0] : Tensors{},
                     .inputs = inputs,
                     .timeout = options.timeout,
                     .common = described(inputs[0], root)},  // (1)
                    [&](occlComm_t comm, orStream_t stream) {
                      const auto [data, count, dtype] = CommBuffer::of_bytes(inputs[0]);
                      OCCL_CHECK(occlSend(data, count, dtype, root, comm, stream));
                      for (int rank = 0; is_root && rank < getSize(); ++rank) {
                        OCCL_CHECK(occlRecv(CommBuffer::of_bytes(outputs[0][rank]).data,
                                            count, dtype, rank, comm, stream));
                      }
                    });
}
// LITERALINCLUDE END: OCCL_GATHER

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::scatter(
    Tensors& outputs, Lists& inputs, const c10d::ScatterOptions& options) {
  constexpr const char* kName = "occl::scatter";
  check_single(kName, outputs.size());
  check_rank(kName, options.rootRank, getSize());
  const auto root = static_cast<int>(options.rootRank);
  const bool is_root = root == getRank();
  TORCH_CHECK_VALUE(inputs.size() == (is_root ? 1 : 0), kName,
                    " takes a list of inputs on the root, rank ", root,
                    ", and none elsewhere");
  if (is_root) {
    check_list(kName, inputs[0], getSize(), outputs[0]);
  }
  return collective({.name = kName,
                     .type = OpType::SCATTER,
                     .outputs = outputs,
                     .inputs = is_root ? inputs[0] : Tensors{},
                     .timeout = options.timeout,
                     .common = described(outputs[0], root)},
                    [&](occlComm_t comm, orStream_t stream) {
                      const auto [data, count, dtype] =
                          CommBuffer::of_bytes(outputs[0]);
                      for (int rank = 0; is_root && rank < getSize(); ++rank) {
                        OCCL_CHECK(occlSend(CommBuffer::of_bytes(inputs[0][rank]).data,
                                            count, dtype, rank, comm, stream));
                      }
                      OCCL_CHECK(occlRecv(data, count, dtype, root, comm, stream));
                    });
}

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::reduce_scatter(
    Tensors& outputs, Lists& inputs, const c10d::ReduceScatterOptions& options) {
  constexpr const char* kName = "occl::reduce_scatter";
  check_single(kName, outputs.size());
  check_single(kName, inputs.size());
  check_uneven_list(kName, inputs[0], getSize(), getRank(), outputs[0]);
  check_reduction(kName, options.reduceOp, outputs[0].scalar_type());
  const auto op =
      to_occl(multiplied(options.reduceOp, inputs[0], false), outputs[0].scalar_type());
  return collective(
      {.name = kName,
       .type = OpType::REDUCE_SCATTER,
       .outputs = outputs,
       .inputs = inputs[0],
       .timeout = options.timeout},
      [&](occlComm_t comm, orStream_t stream) {
        for (int root = 0; root < getSize(); ++root) {
          const auto [data, count, dtype] = CommBuffer::of_numbers(inputs[0][root]);
          OCCL_CHECK(occlReduce(data, CommBuffer::of_numbers(outputs[0]).data, count,
                                dtype, op, root, comm, stream));
        }
      });
}

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::_reduce_scatter_base(
    at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& options) {
  Tensors outputs{output}, inputs{input};
  return reduce_scatter_tensor_coalesced(outputs, inputs, options);
}

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::reduce_scatter_tensor_coalesced(
    Tensors& outputs, Tensors& inputs, const c10d::ReduceScatterOptions& options) {
  constexpr const char* kName = "occl::reduce_scatter_tensor";
  check_tensors(kName, outputs);
  TORCH_CHECK_VALUE(outputs.size() == inputs.size(), kName, " got ", inputs.size(),
                    " inputs and ", outputs.size(), " outputs");
  for (size_t i = 0; i < inputs.size(); ++i) {
    check_whole(kName, inputs[i], getSize(), outputs[i]);
    check_reduction(kName, options.reduceOp, outputs[i].scalar_type());
  }
  const auto op =
      to_occl(multiplied(options.reduceOp, inputs, false), outputs[0].scalar_type());
  return collective(
      {.name = kName,
       .type = OpType::_REDUCE_SCATTER_BASE,
       .outputs = outputs,
       .inputs = inputs,
       .timeout = options.timeout},
      [&](occlComm_t comm, orStream_t stream) {
        for (size_t i = 0; i < outputs.size(); ++i) {
          const auto [data, count, dtype] = CommBuffer::of_numbers(outputs[i]);
          OCCL_CHECK(occlReduceScatter(CommBuffer::of_numbers(inputs[i]).data, data,
                                       count, dtype, op, comm, stream));
        }
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
       .timeout = options.timeout,
       .common = c10::toString(input.scalar_type())},
      [&](occlComm_t comm, orStream_t stream) {
        const std::byte* from = CommBuffer::of_bytes(input).data;
        std::byte* to = CommBuffer::of_bytes(output).data;
        for (int rank = 0; rank < getSize(); ++rank) {
          OCCL_CHECK(occlSend(from, sent[rank], occlUint8, rank, comm, stream));
          OCCL_CHECK(occlRecv(to, expected[rank], occlUint8, rank, comm, stream));
          from += sent[rank];
          to += expected[rank];
        }
      });
}

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::alltoall(
    Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& options) {
  constexpr const char* kName = "occl::all_to_all";
  const auto ranks = static_cast<size_t>(getSize());
  TORCH_CHECK_VALUE(inputs.size() == ranks && outputs.size() == ranks, kName,
                    " takes one input and one output for each of ", ranks,
                    " ranks, but got ", inputs.size(), " and ", outputs.size());
  return collective(
      {.name = kName,
       .type = OpType::ALLTOALL,
       .outputs = outputs,
       .inputs = inputs,
       .timeout = options.timeout,
       .common = c10::toString(inputs[0].scalar_type())},
      [&](occlComm_t comm, orStream_t stream) {
        for (int rank = 0; rank < getSize(); ++rank) {
          const auto from = CommBuffer::of_bytes(inputs[rank]);
          const auto to = CommBuffer::of_bytes(outputs[rank]);
          OCCL_CHECK(occlSend(from.data, from.count, from.dtype, rank, comm, stream));
          OCCL_CHECK(occlRecv(to.data, to.count, to.dtype, rank, comm, stream));
        }
      });
}

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::barrier(
    const c10d::BarrierOptions& options) {
  Operation operation{.name = "occl::barrier",
                      .type = OpType::BARRIER,
                      .outputs = {},
                      .inputs = {},
                      .timeout = options.timeout,
                      .host_waits = true};
  const auto index =
      options.device && options.device->has_index() ? options.device->index()
      : options.device_ids.empty() ? current_device()
                                   : c10::checked_convert<c10::DeviceIndex>(
                                         options.device_ids[0], "c10::DeviceIndex");
  check_device_index(index);
  operation.device.set_index(index);
  return collective(std::move(operation), [](occlComm_t comm, orStream_t stream) {
    OCCL_CHECK(occlVerify("", comm, stream));
  });
}

}  // namespace openreg
