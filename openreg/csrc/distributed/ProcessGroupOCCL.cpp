// How an operation gets onto a stream of its own; see docs/modules/distributed.md.
#include "csrc/distributed/ProcessGroupOCCL.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "csrc/aten/native/KernelTensor.h"
#include "csrc/aten/native/Launch.h"
#include "csrc/distributed/Agreement.h"
#include "csrc/distributed/Checks.h"
#include "csrc/distributed/OnBoard.h"
#include "csrc/runtime/OpenRegStream.h"

namespace openreg {
namespace {

using Tensors = ProcessGroupOCCL::Tensors;

std::vector<KernelTensor> captured(const Tensors& tensors, bool writable) {
  std::vector<KernelTensor> result;
  result.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) {
    result.push_back(writable ? KernelTensor(tensor) : KernelTensor::input(tensor));
  }
  return result;
}

// On the device. The shape is the caller's business; to move bytes, so is the dtype.
Tensors flat_on_device(const std::vector<KernelTensor>& tensors, bool as_bytes) {
  Tensors result;
  for (const KernelTensor& tensor : tensors) {
    const at::Tensor alias = tensor.on_device();
    const at::Tensor flat = alias.view({alias.numel()});
    result.push_back(as_bytes ? flat.view(at::kByte) : flat);
  }
  return result;
}

int64_t hash_of_sizes(const Tensors& tensors) {
  uint64_t hash = 0;
  for (const at::Tensor& tensor : tensors) {
    hash = hash * 1000003 + tensor.nbytes();
  }
  return static_cast<int64_t>(hash);
}

int64_t bytes_of(const Tensors& tensors) {
  size_t bytes = 0;
  for (const at::Tensor& tensor : tensors) {
    bytes += tensor.nbytes();
  }
  return static_cast<int64_t>(bytes);
}

}  // namespace

ProcessGroupOCCL::ProcessGroupOCCL(c10::intrusive_ptr<c10d::Backend> carrier)
    : Backend(carrier->getRank(), carrier->getSize()),
      carrier_(std::move(carrier)),
      board_(Board::make(*carrier_)) {
  init();
}

ProcessGroupOCCL::Lanes& ProcessGroupOCCL::lanes_of(const Sequence& sequence) {
  const std::lock_guard lock(mutex_);
  return lanes_[sequence];
}

c10::Stream ProcessGroupOCCL::Lanes::on(c10::DeviceIndex device) {
  const auto found = streams.find(device);
  if (found != streams.end()) {
    return found->second;
  }
  // Streams of high priority: what other ranks wait for goes first.
  return streams.emplace(device, stream_from_pool(device, -1)).first->second;
}

// LITERALINCLUDE START: OCCL_ENQUEUE
ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::enqueue(const Collective& call,
                                                    Lanes& lanes,
                                                    std::function<void(Outcome&)> run) {
  const c10::impl::VirtualGuardImpl guard(call.device.type());
  const c10::Stream current = current_stream(call.device.index());
  TORCH_CHECK_NOT_IMPLEMENTED(!guard.isStreamCapturing(current), call.name,
                              " cannot be captured into a graph");
  check_not_over(call.name);
  const c10::Stream stream = lanes.on(call.device.index());
  c10::Event ready(call.device.type());
  ready.record(current);
  ready.block(stream);  // (1)
  // What all devices of this process send to a rank, or do with all, is one sequence,
  // as it is over there.
  if (lanes.last.value_or(stream) != stream) {
    c10::Event before(call.device.type());
    before.record(*lanes.last);
    before.block(stream);
  }
  lanes.last = stream;
  auto outcome = std::make_shared<Outcome>();
  {
    const c10::StreamGuard on_lane(stream);
    const std::string who = c10::str(call.name, " failed on ", where(), ": ");
    launch(call.name, call.device,
           [outcome, who, timeout = timeout_of(call), state = state_,
            run = std::move(run)] {  // (2)
             state->attempt(who, timeout, run, *outcome);
           });
  }
  collectives_ += !c10d::isP2POp(call.type);  // also if the lines below throw
  for (const Tensors& tensors : {call.outputs, call.inputs}) {
    for (const at::Tensor& tensor : tensors) {
      guard.recordDataPtrOnStream(tensor.storage().data_ptr(), stream);  // (3)
    }
  }
  auto work =
      c10::make_intrusive<WorkOCCL>(getRank(), call.type, call.name, stream, outcome,
                                    call.outputs, call.host_waits);  // (4)
  const std::lock_guard lock(mutex_);
  if (coalesced_) {
    coalesced_->push_back(work);
  }
  return work;
}
// LITERALINCLUDE END: OCCL_ENQUEUE

std::chrono::milliseconds ProcessGroupOCCL::timeout_of(const Collective& call) {
  return call.timeout == c10d::kUnsetTimeout ? carrier_->getBackendOptions()->timeout
                                             : call.timeout;
}

// LITERALINCLUDE START: OCCL_COLLECTIVE
ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::collective(Collective call, Carry carry) {
  Tensors all(call.outputs);
  all.insert(all.end(), call.inputs.begin(), call.inputs.end());
  if (call.type != c10d::OpType::BARRIER) {
    check_tensors(call.name, all);
    call.device = all.front().device();
  }
  const bool exchange = !call.splits.empty();
  // May copy what lazy clones share, and so wait for memory: not under the lock.
  auto captured_outputs = captured(call.outputs, true);
  auto captured_inputs = captured(call.inputs, false);
  Lanes& lanes = lanes_of({kAll, -1, 0});
  const std::lock_guard order(lanes.order);
  const Signature mine{
      .number = collectives_,
      .type = static_cast<int64_t>(call.type),
      .dtype = all.empty() ? -1 : static_cast<int64_t>(all.front().scalar_type()),
      .tensors = exchange ? 1 : static_cast<int64_t>(call.share.size()),
      .bytes = exchange ? -1 : bytes_of(call.share),
      .sizes = exchange ? 0 : hash_of_sizes(call.share),
      .reduce = call.reduce,
      .root = call.root};
  const bool empty = !all.empty() && !exchange && mine.bytes == 0;
  const auto run = [carrier = carrier_, board = board_, mine, empty,
                    carry = std::move(carry), on_board = std::move(call.on_board),
                    timeout = timeout_of(call), splits = call.splits,
                    outputs = std::move(captured_outputs),
                    inputs = std::move(captured_inputs)](Outcome&) {
    const bool as_bytes = mine.reduce < 0;
    Tensors to = flat_on_device(outputs, as_bytes);
    Tensors from = flat_on_device(inputs, as_bytes);
    if (board != nullptr && on_board) {
      carry_on_board(*board, mine, from.empty() ? to : from, on_board(to), timeout);
      return;
    }
    agree(*carrier, board.get(), mine, splits, timeout);
    if (!empty) {
      carry(*carrier, to, from)->wait();
    }
  };
  return enqueue(call, lanes, run);
}
// LITERALINCLUDE END: OCCL_COLLECTIVE

// LITERALINCLUDE START: OCCL_POINT_TO_POINT
ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::point_to_point(Direction direction,
                                                           Tensors& tensors, int peer,
                                                           int tag) {
  const bool sends = direction == kSend;
  Collective call{.name = sends ? "occl::send" : "occl::recv",
                  .type = sends ? c10d::OpType::SEND : c10d::OpType::RECV,
                  .outputs = tensors,
                  .inputs = {},
                  .share = {}};
  check_single(call.name, tensors.size());
  check_tensors(call.name, tensors);
  const bool from_any = peer < 0;
  if (!from_any) {
    check_rank(call.name, peer, getSize());
    TORCH_CHECK_VALUE(peer != getRank(), call.name, " got its own rank, ", peer);
  }
  TORCH_CHECK_VALUE(tag >= 0 && tag <= 700'000'000, call.name, " got tag ", tag,
                    ", which is not between 0 and 7 * 10**8");  // thrice fits an int
  call.device = tensors.front().device();
  const auto run = [carrier = carrier_, state = state_, sends, from_any, peer, tag,
                    timeout = timeout_of(call), dtype = tensors.front().scalar_type(),
                    memory = sends ? KernelTensor::input(tensors.front())
                                   : KernelTensor(tensors.front())](Outcome& outcome) {
    // Two messages about the message: Gloo ends the process that gets more than it
    // expects. Each kind has tags of its own, so that it meets no other kind, also when
    // two receives wait for one sender: one from this rank, one from any.
    const int about = 3 * tag, answer = 3 * tag + 1, content = 3 * tag + 2;
    Tensors data = flat_on_device({memory}, true);
    const at::Tensor mine =
        at::tensor({data[0].numel(), static_cast<int64_t>(dtype)}, at::kLong);
    Tensors said{mine}, heard{at::empty({2}, at::kLong)};
    int source = peer;
    WorkPtr arrives;
    if (sends) {
      carrier->send(said, peer, about)->wait(timeout);
      carrier->recv(heard, peer, answer)->wait(timeout);
    } else if (from_any) {
      const WorkPtr header = carrier->recvAnysource(heard, about);
      state->wait_for_any(header, timeout);
      source = header->sourceRank();
    } else {
      carrier->recv(heard, peer, about)->wait(timeout);
    }
    const bool same = at::equal(said[0], heard[0]);
    const bool empty = data[0].numel() == 0;
    if (!sends) {
      // Expect the content before the sender may send the next message.
      arrives = same && !empty ? carrier->recv(data, source, content) : nullptr;
      carrier->send(said, source, answer)->wait(timeout);
    }
    TORCH_CHECK(same, "this rank ", sends ? "sends " : "expects ", data[0].numel(),
                " bytes of ", dtype, ", rank ", source, sends ? " expects " : " sends ",
                heard[0].const_data_ptr<int64_t>()[0], " bytes of ",
                static_cast<c10::ScalarType>(heard[0].const_data_ptr<int64_t>()[1]));
    if (!empty) {
      (sends ? carrier->send(data, peer, content) : arrives)->wait(timeout);
    }
    outcome.set_source(source);
  };
  Lanes& lanes = lanes_of({direction, peer, tag});
  const std::lock_guard order(lanes.order);
  return enqueue(call, lanes, run);
}
// LITERALINCLUDE END: OCCL_POINT_TO_POINT

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::send(Tensors& tensors, int to, int tag) {
  check_rank("occl::send", to, getSize());
  return point_to_point(kSend, tensors, to, tag);
}

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::recv(Tensors& tensors, int from, int tag) {
  check_rank("occl::recv", from, getSize());
  return point_to_point(kReceive, tensors, from, tag);
}

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::recvAnysource(Tensors& tensors, int tag) {
  return point_to_point(kReceive, tensors, -1, tag);
}

// LITERALINCLUDE START: OCCL_MONITORED_BARRIER
void ProcessGroupOCCL::monitoredBarrier(const c10d::BarrierOptions& options,
                                        bool wait_all) {
  // The carrier numbers its collectives, so only one may be under way. Messages have
  // tags, and go on meanwhile: a rank may need one before it comes.
  Lanes& lanes = lanes_of({kAll, -1, 0});
  const std::lock_guard order(lanes.order);
  check_not_over("occl::monitored_barrier");
  for (const auto& [device, stream] : lanes.streams) {
    stream.synchronize();
  }
  c10d::BarrierOptions for_carrier;
  for_carrier.timeout = options.timeout;
  carrier_->monitoredBarrier(for_carrier, wait_all);
}
// LITERALINCLUDE END: OCCL_MONITORED_BARRIER

}  // namespace openreg
