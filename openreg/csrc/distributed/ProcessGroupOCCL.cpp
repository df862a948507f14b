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
#include "csrc/runtime/OpenRegStream.h"

namespace openreg {
namespace {

using Tensors = ProcessGroupOCCL::Tensors;

const c10::impl::VirtualGuardImpl& guard() {
  static const c10::impl::VirtualGuardImpl impl(c10::DeviceType::PrivateUse1);
  return impl;
}

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

[[noreturn]] void fail(Outcome& outcome, const std::string& text) {
  const c10::DistBackendError error({__func__, __FILE__, uint32_t{__LINE__}}, text);
  outcome.fail(std::make_exception_ptr(error));
  throw error;
}

}  // namespace

ProcessGroupOCCL::ProcessGroupOCCL(c10::intrusive_ptr<c10d::Backend> carrier)
    : Backend(carrier->getRank(), carrier->getSize()), carrier_(std::move(carrier)) {
  init();
}

c10::Stream ProcessGroupOCCL::stream_of(const Lane& lane) {
  const auto found = lanes_.find(lane);
  if (found != lanes_.end()) {
    return found->second;
  }
  // Streams of high priority: what other ranks wait for goes first.
  const c10::Stream stream = stream_from_pool(std::get<0>(lane), -1);
  lanes_.emplace(lane, stream);
  return stream;
}

// LITERALINCLUDE START: OCCL_ENQUEUE
ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::enqueue(const Collective& call,
                                                    const Lane& lane,
                                                    std::function<void(Outcome&)> run) {
  const c10::Stream current = current_stream(call.device.index());
  TORCH_CHECK_NOT_IMPLEMENTED(!guard().isStreamCapturing(current), call.name,
                              " cannot be captured into a graph");
  const c10::Stream stream = stream_of(lane);
  c10::Event ready(call.device.type());
  ready.record(current);
  ready.block(stream);  // (1)
  auto outcome = std::make_shared<Outcome>();
  {
    const c10::StreamGuard on_lane(stream);
    const std::string who =
        c10::str(call.name, " failed on rank ", getRank(), " of ", getSize(), ": ");
    launch(call.name, call.device, [outcome, who, run = std::move(run)] {  // (2)
      try {
        run(*outcome);
      } catch (const c10::Error& error) {
        fail(*outcome, who + error.what_without_backtrace());
      } catch (const std::exception& error) {
        fail(*outcome, who + error.what());
      }
    });
  }
  collectives_ += std::get<Direction>(lane) == kAll;  // also if the lines below throw
  for (const Tensors& tensors : {call.outputs, call.inputs}) {
    for (const at::Tensor& tensor : tensors) {
      guard().recordDataPtrOnStream(tensor.storage().data_ptr(), stream);  // (3)
    }
  }
  return c10::make_intrusive<WorkOCCL>(getRank(), call.type, call.name, stream, outcome,
                                       call.outputs, call.host_waits);  // (4)
}
// LITERALINCLUDE END: OCCL_ENQUEUE

// LITERALINCLUDE START: OCCL_COLLECTIVE
ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::collective(Collective call, Carry carry) {
  Tensors all(call.outputs);
  all.insert(all.end(), call.inputs.begin(), call.inputs.end());
  if (!all.empty()) {
    check_tensors(call.name, all);
    call.device = all.front().device();
  }
  const bool exchange = !call.sent.empty();
  const std::lock_guard lock(mutex_);
  const Signature mine{
      .number = collectives_,
      .type = static_cast<int64_t>(call.type),
      .dtype = all.empty() ? -1 : static_cast<int64_t>(all.front().scalar_type()),
      .tensors = exchange ? 1 : static_cast<int64_t>(call.share.size()),
      .bytes = exchange ? -1 : bytes_of(call.share),
      .sizes = exchange ? 0 : hash_of_sizes(call.share),
      .reduce = call.reduce,
      .root = call.root};
  const auto run = [carrier = carrier_, mine, carry = std::move(carry),
                    timeout = call.timeout, sent = call.sent, expected = call.expected,
                    empty = !all.empty() && !exchange && bytes_of(call.share) == 0,
                    outputs = captured(call.outputs, true),
                    inputs = captured(call.inputs, false)](Outcome&) {
    agree(*carrier, mine, timeout);
    if (!sent.empty()) {
      agree_on_exchange(*carrier, sent, expected, timeout);
    }
    if (!empty) {
      const bool as_bytes = mine.reduce < 0;
      Tensors to = flat_on_device(outputs, as_bytes);
      Tensors from = flat_on_device(inputs, as_bytes);
      carry(*carrier, to, from)->wait();
    }
  };
  return enqueue(call, {call.device.index(), kAll, -1, 0}, run);
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
  TORCH_CHECK_VALUE(tag >= 0 && tag <= (1 << 30), call.name, " got tag ", tag,
                    ", which is not between 0 and 2**30");
  call.device = tensors.front().device();
  const auto run = [carrier = carrier_, sends, from_any, peer, tag,
                    dtype = tensors.front().scalar_type(),
                    memory = sends ? KernelTensor::input(tensors.front())
                                   : KernelTensor(tensors.front())](Outcome& outcome) {
    // Two messages about the message: Gloo ends the process where sizes differ. Answers
    // have tags of their own, so that they do not meet what the peer sends.
    const int there = 2 * tag, back = 2 * tag + 1;
    Tensors data = flat_on_device({memory}, true);
    const at::Tensor mine =
        at::tensor({data[0].numel(), static_cast<int64_t>(dtype)}, at::kLong);
    Tensors said{mine}, heard{at::empty({2}, at::kLong)};
    int source = peer;
    if (sends) {
      carrier->send(said, peer, there)->wait();
      carrier->recv(heard, peer, back)->wait();
    } else {
      const auto header = from_any ? carrier->recvAnysource(heard, there)
                                   : carrier->recv(heard, peer, there);
      header->wait();
      source = from_any ? header->sourceRank() : peer;
      carrier->send(said, source, back)->wait();
    }
    TORCH_CHECK(at::equal(said[0], heard[0]), "this rank ",
                sends ? "sends " : "expects ", data[0].numel(), " bytes of ", dtype,
                ", rank ", source, sends ? " expects " : " sends ",
                heard[0].const_data_ptr<int64_t>()[0], " bytes of ",
                static_cast<c10::ScalarType>(heard[0].const_data_ptr<int64_t>()[1]));
    if (data[0].numel() > 0) {
      (sends ? carrier->send(data, peer, there) : carrier->recv(data, source, there))
          ->wait();
    }
    outcome.set_source(source);
  };
  const std::lock_guard lock(mutex_);
  return enqueue(call, {call.device.index(), direction, peer, tag}, run);
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

void ProcessGroupOCCL::wait_for_lanes() {
  for (const auto& [lane, stream] : lanes_) {
    guard().synchronizeStream(stream);
  }
}

void ProcessGroupOCCL::monitoredBarrier(const c10d::BarrierOptions& options,
                                        bool wait_all) {
  const std::lock_guard lock(mutex_);
  wait_for_lanes();  // the carrier's collectives have numbers: one thread at a time
  c10d::BarrierOptions for_carrier;
  for_carrier.timeout = options.timeout;
  carrier_->monitoredBarrier(for_carrier, wait_all);
}

void ProcessGroupOCCL::shutdown() {
  const std::lock_guard lock(mutex_);
  try {
    wait_for_lanes();
  } catch (const c10::Error&) {
    // A fault of the device: every call that waits for the device reports it.
  }
}

}  // namespace openreg
