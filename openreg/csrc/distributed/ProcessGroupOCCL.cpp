// Enqueues operations on their own streams; see docs/modules/distributed.md.
#include "csrc/distributed/ProcessGroupOCCL.h"

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Logging.h>
#include <c10/util/env.h>

#include "csrc/aten/common/TensorMemory.h"
#include "csrc/distributed/Checks.h"
#include "csrc/distributed/DataTypes.h"
#include "csrc/distributed/GlooNet.h"
#include "csrc/runtime/device/OpenRegGuard.h"
#include "csrc/runtime/stream/OpenRegStream.h"

namespace openreg {
namespace {

// LITERALINCLUDE START: OCCL_UNIQUE_ID
occlUniqueId exchanged_id(c10d::Store& store, int rank) {
  constexpr const char* kKey = "occl_id";
  occlUniqueId id;
  if (rank == 0) {
    OCCL_CHECK(occlGetUniqueId(&id));
    const auto* first = reinterpret_cast<const uint8_t*>(id.internal);
    store.set(kKey, std::vector<uint8_t>(first, first + sizeof id.internal));
  } else {
    const std::vector<uint8_t> bytes = store.get(kKey);  // waits for rank 0
    TORCH_CHECK_WITH(DistBackendError, bytes.size() == sizeof id.internal,
                     "occl: the store has ", bytes.size(), " bytes under ", kKey,
                     ", where rank 0 stores an id of ", sizeof id.internal,
                     "; use a new store or prefix");
    std::copy(bytes.begin(), bytes.end(), id.internal);
  }
  return id;
}
// LITERALINCLUDE END: OCCL_UNIQUE_ID

occlComm_t make_comm(c10d::Store& store,
                     const c10::intrusive_ptr<c10d::Backend>& host) {
  const int rank = host->getRank(), size = host->getSize();
  const occlUniqueId id = exchanged_id(store, rank);
  const occlNet_t net = make_gloo_net(host);
  const occlConfig_t config{host->getBackendOptions()->timeout.count(), &net};
  occlComm_t comm = nullptr;
  if (occlCommInitRankConfig(&comm, size, id, rank, &config) != occlSuccess) {
    net.close(net.context);
    TORCH_CHECK_WITH(DistBackendError, false, occlGetLastError(nullptr));
  }
  return comm;
}

// The library gets addresses: of memory that is large enough, and that no lazy clone
// shares. May copy, and so wait for memory.
void own_memory(const ProcessGroupOCCL::Tensors& outputs,
                const ProcessGroupOCCL::Tensors& inputs) {
  for (const at::Tensor& tensor : outputs) {
    check_storage(tensor);
    const OpenRegGuard guard(tensor.device().index());
    tensor.mutable_data_ptr();
  }
  for (const at::Tensor& tensor : inputs) {
    check_storage(tensor);
  }
}

}  // namespace

ProcessGroupOCCL::ProcessGroupOCCL(c10::intrusive_ptr<c10d::Store> store,
                                   c10::intrusive_ptr<c10d::Backend> host)
    : Backend(host->getRank(), host->getSize()),
      host_(std::move(host)),
      comm_(make_comm(*store, host_)),
      checks_nan_(c10::utils::check_env("TORCH_DIST_NAN_CHECK").value_or(false)) {
  try {
    init();
    int shares = 0;
    OCCL_CHECK(occlCommSharesMemory(comm_, &shares));
    LOG(INFO) << "occl: the " << getSize() << " ranks "
              << (shares != 0 ? "share memory" : "use the network");
  } catch (...) {
    occlCommAbort(comm_);  // no destructor runs, and the other ranks would wait
    throw;
  }
}

ProcessGroupOCCL::~ProcessGroupOCCL() {
  state_->hooks.close();
  occlCommDestroy(comm_);  // an error says that it was destroyed or aborted before
}

ProcessGroupOCCL::OrderedStreams& ProcessGroupOCCL::streams_of(const StreamKey& key) {
  const std::lock_guard lock(mutex_);
  return streams_[key];
}

c10::Stream ProcessGroupOCCL::OrderedStreams::on(c10::DeviceIndex device) {
  const auto found = streams.find(device);
  if (found != streams.end()) {
    return found->second;
  }
  // Streams of high priority: work that other ranks wait for runs first.
  return streams.emplace(device, stream_from_pool(device, -1)).first->second;
}

// LITERALINCLUDE START: OCCL_FINISHED
struct ProcessGroupOCCL::Ending {
  WorkState::Ptr work;
  std::shared_ptr<State> state;
  std::string who;

  static void finished(void* arg, occlResult_t result, const char* text, int source) {
    auto& [work, state, who] = *static_cast<Ending*>(arg);
    if (result == occlSuccess) {
      work->succeed(source);
      state->hooks.completed(work->key());
      return;
    }
    state->error =
        result == occlTimeout ? c10d::ErrorType::TIMEOUT : c10d::ErrorType::COMM_ERROR;
    const char* why = state->aborted ? "the group was aborted" : text;
    work->fail(std::make_exception_ptr(
        c10::DistBackendError({__func__, __FILE__, uint32_t{__LINE__}}, who + why)));
    if (!state->aborted) {
      state->hooks.failed();
    }
  }
  static void release(void* arg) { delete static_cast<Ending*>(arg); }
};
// LITERALINCLUDE END: OCCL_FINISHED

// LITERALINCLUDE START: OCCL_ENQUEUE
ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::enqueue(const Operation& operation,
                                                    OrderedStreams& streams,
                                                    const Calls& calls) {
  const c10::Device device = operation.device;
  const c10::impl::VirtualGuardImpl guard(device.type());
  const c10::Stream current = current_stream(device.index());
  TORCH_CHECK_NOT_IMPLEMENTED(!guard.isStreamCapturing(current), operation.name,
                              " cannot be captured into a graph");
  check_not_over(operation.name);
  const c10::Stream stream = streams.on(device.index());
  c10::Event ready(device.type());
  ready.record(current);
  ready.block(stream);  // (1)
  // The operations of all devices of this process with one rank, or with all ranks, are
  // one sequence, as they are on the other ranks.
  if (streams.last.value_or(stream) != stream) {
    c10::Event before(device.type());
    before.record(*streams.last);
    before.block(stream);
  }
  streams.last = stream;
  // LITERALINCLUDE END: OCCL_ENQUEUE
  // LITERALINCLUDE START: OCCL_GROUP
  auto state = std::make_shared<WorkState>();
  auto events = std::make_shared<WorkEvents>(device.type(), timed_, state);
  const std::string who = c10::str(operation.name, " failed on ", where(), ": ");
  auto ending = std::make_unique<Ending>(Ending{state, state_, who});
  const occlGroupOptions_t options{
      operation.name,   who.c_str(),     timeout_of(operation).count(),
      Ending::finished, Ending::release, ending.get()};
  const int64_t number = record(operation, events);
  try {
    events->record_start(stream);
    OCCL_CHECK(occlGroupStart());
    try {
      calls(comm_, native_handle(stream));
    } catch (...) {
      occlGroupEnd();  // does nothing: a call in the group failed
      throw;
    }
    OCCL_CHECK(occlGroupEndWith(&options));  // (1)
  } catch (...) {
    FlightRecorder::get().refuse(number);
    throw;
  }
  ending.release();
  // LITERALINCLUDE END: OCCL_GROUP
  const bool message = c10d::isP2POp(operation.type);
  const uint64_t sequence = message ? (++messages_, 0) : ++collectives_;
  // LITERALINCLUDE START: OCCL_IN_FLIGHT
  for (const Tensors& tensors : {operation.outputs, operation.inputs}) {
    for (const at::Tensor& tensor : tensors) {
      guard.recordDataPtrOnStream(tensor.storage().data_ptr(), stream);  // (1)
    }
  }
  auto work = c10::make_intrusive<WorkOCCL>(getRank(), operation.type, operation.name,
                                            stream, events, operation.outputs,
                                            operation.host_waits, sequence);  // (2)
  const std::lock_guard lock(mutex_);
  if (coalesced_) {
    coalesced_->push_back(work);
  }
  return work;
}
// LITERALINCLUDE END: OCCL_IN_FLIGHT

std::chrono::milliseconds ProcessGroupOCCL::timeout_of(const Operation& operation) {
  return operation.timeout == c10d::kUnsetTimeout ? host_->getBackendOptions()->timeout
                                                  : operation.timeout;
}

// LITERALINCLUDE START: OCCL_COLLECTIVE
ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::collective(Operation operation,
                                                       const Calls& calls) {
  Tensors all(operation.outputs);
  all.insert(all.end(), operation.inputs.begin(), operation.inputs.end());
  if (operation.type != c10d::OpType::BARRIER) {
    check_tensors(operation.name, all);
    operation.device = all.front().device();
    const at::ScalarType dtype = all.front().scalar_type();
    if (operation.common.empty() && !is_known_to_occl(dtype)) {
      operation.common = c10::toString(dtype);  // the library gets only bytes
    }
  }
  observe(operation);
  own_memory(operation.outputs, operation.inputs);  // waits, so not under the lock
  OrderedStreams& streams = streams_of({kAll, -1, 0});
  const std::lock_guard order(streams.order);
  return enqueue(operation, streams, [&](occlComm_t comm, orStream_t stream) {
    if (!operation.common.empty()) {
      OCCL_CHECK(occlVerify(operation.common.c_str(), comm, stream));
    }
    calls(comm, stream);
  });
}
// LITERALINCLUDE END: OCCL_COLLECTIVE

ProcessGroupOCCL::WorkPtr ProcessGroupOCCL::point_to_point(Direction direction,
                                                           Tensors& tensors, int peer,
                                                           int tag) {
  const bool sends = direction == kSend;
  Operation operation{.name = sends ? "occl::send" : "occl::recv",
                      .type = sends ? c10d::OpType::SEND : c10d::OpType::RECV,
                      .outputs = tensors,
                      .inputs = sends ? tensors : Tensors{},
                      .peer = peer};
  check_single(operation.name, tensors.size());
  check_tensors(operation.name, tensors);
  if (peer != occlAnySource) {
    check_rank(operation.name, peer, getSize());
    TORCH_CHECK_VALUE(peer != getRank(), operation.name, " cannot use its own rank, ",
                      peer, ", as the peer");
  }
  TORCH_CHECK_VALUE(tag >= 0 && tag <= occlMaxTag, operation.name, " got tag ", tag,
                    ", which is not between 0 and 7 * 10**8");
  // LITERALINCLUDE START: OCCL_POINT_TO_POINT
  operation.device = tensors.front().device();
  observe(operation);
  own_memory(sends ? Tensors{} : tensors, tensors);
  OrderedStreams& streams = streams_of({direction, peer, tag});
  const std::lock_guard order(streams.order);
  return enqueue(operation, streams, [&](occlComm_t comm, orStream_t stream) {
    const auto [data, count, dtype] = CommBuffer::of_bytes(tensors.front());
    OCCL_CHECK(sends ? occlSendTag(data, count, dtype, peer, tag, comm, stream)
                     : occlRecvTag(data, count, dtype, peer, tag, comm, stream));
  });
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
  return point_to_point(kReceive, tensors, occlAnySource, tag);
}

// LITERALINCLUDE START: OCCL_MONITORED_BARRIER
void ProcessGroupOCCL::monitoredBarrier(const c10d::BarrierOptions& options, bool) {
  // Collectives have one order, so only one may be running. Messages have tags and
  // continue meanwhile, because a rank may need one before it calls the barrier.
  constexpr const char* kName = "occl::monitored_barrier";
  OrderedStreams& streams = streams_of({kAll, -1, 0});
  const std::lock_guard order(streams.order);
  check_not_over(kName);
  for (const auto& [device, stream] : streams.streams) {
    stream.synchronize();
  }
  const Operation operation{.name = kName,
                            .type = c10d::OpType::BARRIER,
                            .outputs = {},
                            .inputs = {},
                            .timeout = options.timeout};
  const occlResult_t result =
      occlMonitoredBarrier(comm_, timeout_of(operation).count());
  TORCH_CHECK_WITH(DistBackendError, result == occlSuccess, kName, " failed on ",
                   where(), ": ", occlGetLastError(nullptr));
}
// LITERALINCLUDE END: OCCL_MONITORED_BARRIER

}  // namespace openreg
