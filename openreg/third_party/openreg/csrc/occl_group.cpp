// How calls become one kernel on a stream; see docs/modules/distributed.md.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "memory.h"
#include "occl_comm.h"

namespace openreg::occl {
namespace {

constexpr size_t kMaxCount = size_t{1} << 40;  // so that no number of bytes overflows

// What one kernel does.
struct Launch {
  driver::Ref<Comm> comm;
  orStream_t stream;
  const char* name;
  Operation operation = {};
  std::string prefix = {};
  occlGroupOptions_t options = {};
};

// The group that the calling thread has open; empty if it has none.
struct Group {
  int depth = 0;
  bool failed = false;  // a call in it failed
  // A pointer, so that nothing is destroyed when the thread ends: other variables of
  // the thread may use the library later.
  std::vector<std::unique_ptr<Launch>>* launches = nullptr;

  void open() {
    if (launches == nullptr) launches = new std::vector<std::unique_ptr<Launch>>;
    ++depth;
  }
  // Its contents, and whether a call failed.
  std::pair<std::vector<std::unique_ptr<Launch>>, bool> close() {
    const std::unique_ptr<std::vector<std::unique_ptr<Launch>>> owner(
        std::exchange(launches, nullptr));
    return {std::move(*owner), std::exchange(failed, false)};
  }
};
thread_local Group group;

orError_t run_launch(void* args) {
  auto& launch = *static_cast<Launch*>(args);
  Operation& operation = launch.operation;
  const auto finish = [&](occlResult_t result, const char* text) {
    if (launch.options.finished == nullptr) return;
    launch.options.finished(launch.options.arg, result, text, operation.source);
  };
  occlResult_t result = occlSystemError;
  std::string why;
  try {
    launch.comm->run(operation);
    finish(occlSuccess, "");
    return orSuccess;
  } catch (const Failure& failure) {
    result = failure.result;
    why = failure.what();
  } catch (const std::exception& failure) {
    why = failure.what();
  }
  const bool aborted = launch.comm->aborted();
  if (aborted) {
    result = occlRemoteError;
    why = "the communicator was aborted";
  }
  const std::string text = launch.prefix + why;
  launch.comm->set_error(result, text);
  finish(result, why.c_str());
  if (aborted) return orSuccess;  // on request of the program, which needs the device
  orKernelFault(text.c_str());
  return orErrorLaunchFailure;
}

void delete_launch(void* args) {
  const auto* launch = static_cast<Launch*>(args);
  if (launch->options.release != nullptr) launch->options.release(launch->options.arg);
  delete launch;
}

// The device's view of a buffer. Throws unless all of it is device memory.
std::byte* on_device(const void* buffer, size_t bytes, const char* name) {
  if (bytes == 0) return nullptr;
  const orPointerAttributes about = driver::attributesOf(buffer);
  const auto* start = static_cast<const std::byte*>(about.base);
  if (about.type != orMemoryTypeDevice ||
      static_cast<const std::byte*>(buffer) + bytes > start + about.size) {
    throw Failure(occlInvalidArgument,
                  joined(name, ": these ", bytes, " bytes are not all device memory"));
  }
  return static_cast<std::byte*>(driver::deviceSide(buffer));
}

void check_call(const Comm& comm, const Call& call) {
  if (!is_valid(call.dtype)) throw Failure(occlInvalidArgument, "dtype is not valid");
  if (call.count > kMaxCount) throw Failure(occlInvalidArgument, "count is too large");
  if (call.reduces() && !can_reduce(call.op, call.dtype)) {
    throw Failure(occlInvalidArgument,
                  joined("op ", int{call.op}, " cannot reduce ", name_of(call.dtype)));
  }
  const bool any = call.kind == Call::kRecv && call.peer == occlAnySource;
  if (!any && (call.peer < 0 || call.peer >= comm.size)) {
    throw Failure(occlInvalidArgument,
                  joined("rank ", call.peer, " is not one of ", comm.size));
  }
  if (call.tag < 0 || call.tag > kUntagged) {
    throw Failure(occlInvalidArgument, joined("tag ", call.tag, " is not valid"));
  }
}

void check_launch(Launch& launch) {
  auto& calls = launch.operation.calls;
  const auto is_message = [](const Call& call) { return call.is_message(); };
  launch.operation.collective = !std::ranges::all_of(calls, is_message);
  if (!launch.operation.collective) return;
  if (std::ranges::any_of(calls, [](const Call& call) {
        return call.is_message() && (call.tag != kUntagged || call.peer < 0);
      })) {
    throw Failure(occlInvalidUsage,
                  "in a group with a collective, messages cannot have tags, and a "
                  "receive must name its source");
  }
  launch.operation.head.messages = std::ranges::any_of(calls, is_message) ? 1 : 0;
}

void enqueue(std::unique_ptr<Launch> launch) {
  check_launch(*launch);
  // Not references: the kernel may have run, and deleted the launch, at once.
  const driver::Ref<Comm> comm = launch->comm;
  const bool collective = launch->operation.collective;
  std::unique_lock lock(comm->order, std::defer_lock);
  if (collective) {
    lock.lock();  // the numbers are those of the kernels' order
    launch->operation.head.fingerprint =
        CollectiveFingerprint(comm->collectives, launch->name, launch->operation.calls);
  }
  if (orLaunchKernel(launch->name, run_launch, launch.get(), delete_launch,
                     launch->stream) != orSuccess) {
    throw Failure(occlUnhandledError, orGetErrorDetail());
  }
  launch.release();  // delete_launch() has it now
  comm->collectives += collective ? 1 : 0;
}

void enqueue_all(std::vector<std::unique_ptr<Launch>> launches,
                 const occlGroupOptions_t* options) {
  for (auto& launch : launches) {
    Comm& comm = *launch->comm;
    launch->operation.timeout = comm.timeout;
    launch->prefix = joined("rank ", comm.rank, " of ", comm.size, ": ");
    if (options != nullptr) {
      launch->options = *options;
      if (options->name != nullptr) launch->name = options->name;
      if (options->prefix != nullptr) launch->prefix = options->prefix;
      if (options->timeoutMs > 0) {
        launch->operation.timeout = Milliseconds(options->timeoutMs);
      }
    }
    enqueue(std::move(launch));
  }
}

void end_group(const occlGroupOptions_t* options) {
  if (group.depth == 0) {
    throw Failure(occlInvalidUsage, "call occlGroupStart() first");
  }
  if (--group.depth > 0) return;
  auto [launches, failed] = group.close();
  if (failed) {
    throw Failure(occlInvalidUsage,
                  "a call in the group failed, so none of its calls was made");
  }
  if (options != nullptr && launches.size() != 1) {
    throw Failure(occlInvalidUsage,
                  joined("the calls are on ", launches.size(),
                         " communicators and streams, but must be on one"));
  }
  enqueue_all(std::move(launches), options);
}

// Puts a call into the open group, or makes a group of it alone.
occlResult_t add_call(const char* function, Call call, const void* send, size_t sent,
                      const void* recv, size_t received, occlComm_t handle,
                      orStream_t stream) {
  const occlResult_t result = enter(function, [&] {
    auto comm = find_comm(handle);
    check_call(*comm, call);
    int capturing = 0;
    if (orStreamIsCapturing(stream, &capturing) != orSuccess) {
      throw Failure(occlUnhandledError, orGetErrorDetail());
    }
    if (capturing != 0) {
      throw Failure(
          occlInvalidUsage,
          "the stream is capturing a graph: make the call outside of the capture");
    }
    const size_t element = size_of(call.dtype);
    call.send = on_device(send, sent * element, "send");
    call.recv = on_device(recv, received * element, "recv");
    auto same = [&](const auto& launch) {
      return launch->comm.get() == comm.get() && launch->stream == stream;
    };
    std::vector<std::unique_ptr<Launch>> alone;
    auto& launches = group.depth > 0 ? *group.launches : alone;
    auto found = std::ranges::find_if(launches, same);
    if (found == launches.end()) {
      found = launches.insert(found,
                              std::make_unique<Launch>(Launch{comm, stream, function}));
    }
    (*found)->operation.calls.push_back(std::move(call));
    enqueue_all(std::move(alone), nullptr);
  });
  group.failed |= result != occlSuccess && group.depth > 0;
  return result;
}

size_t ranks_of(occlComm_t comm) {
  int count = 0;
  return occlCommCount(comm, &count) == occlSuccess ? static_cast<size_t>(count) : 1;
}

bool is_rank(occlComm_t comm, int root) {
  int rank = -1;
  return occlCommUserRank(comm, &rank) == occlSuccess && rank == root;
}

occlResult_t add_message(const char* function, Call::Kind kind, void* buffer,
                         size_t count, occlDataType_t dtype, int peer, int tag,
                         occlComm_t comm, orStream_t stream) {
  const bool sends = kind == Call::kSend;
  return add_call(
      function,
      {.kind = kind, .count = count, .dtype = dtype, .peer = peer, .tag = tag}, buffer,
      sends ? count : 0, buffer, sends ? 0 : count, comm, stream);
}

occlResult_t refuse_tag(const char* function, int tag) {
  return refuse(function, occlInvalidArgument,
                joined("tag ", tag, " is not between 0 and ", int{occlMaxTag}).c_str());
}

}  // namespace

}  // namespace openreg::occl

using namespace openreg::occl;

occlResult_t occlAllReduce(const void* send, void* recv, size_t count,
                           occlDataType_t dtype, occlRedOp_t op, occlComm_t comm,
                           orStream_t stream) {
  return add_call(__func__,
                  {.kind = Call::kAllReduce, .count = count, .dtype = dtype, .op = op},
                  send, count, recv, count, comm, stream);
}

occlResult_t occlReduce(const void* send, void* recv, size_t count,
                        occlDataType_t dtype, occlRedOp_t op, int root, occlComm_t comm,
                        orStream_t stream) {
  return add_call(
      __func__,
      {.kind = Call::kReduce, .count = count, .dtype = dtype, .op = op, .peer = root},
      send, count, recv, is_rank(comm, root) ? count : 0, comm, stream);
}

occlResult_t occlBroadcast(const void* send, void* recv, size_t count,
                           occlDataType_t dtype, int root, occlComm_t comm,
                           orStream_t stream) {
  return add_call(
      __func__,
      {.kind = Call::kBroadcast, .count = count, .dtype = dtype, .peer = root}, send,
      is_rank(comm, root) ? count : 0, recv, count, comm, stream);
}

occlResult_t occlAllGather(const void* send, void* recv, size_t count,
                           occlDataType_t dtype, occlComm_t comm, orStream_t stream) {
  return add_call(__func__, {.kind = Call::kAllGather, .count = count, .dtype = dtype},
                  send, count, recv, count * ranks_of(comm), comm, stream);
}

occlResult_t occlReduceScatter(const void* send, void* recv, size_t count,
                               occlDataType_t dtype, occlRedOp_t op, occlComm_t comm,
                               orStream_t stream) {
  return add_call(
      __func__,
      {.kind = Call::kReduceScatter, .count = count, .dtype = dtype, .op = op}, send,
      count * ranks_of(comm), recv, count, comm, stream);
}

occlResult_t occlSend(const void* send, size_t count, occlDataType_t dtype, int peer,
                      occlComm_t comm, orStream_t stream) {
  return add_message(__func__, Call::kSend, const_cast<void*>(send), count, dtype, peer,
                     kUntagged, comm, stream);
}

occlResult_t occlRecv(void* recv, size_t count, occlDataType_t dtype, int peer,
                      occlComm_t comm, orStream_t stream) {
  return add_message(__func__, Call::kRecv, recv, count, dtype, peer, kUntagged, comm,
                     stream);
}

occlResult_t occlSendTag(const void* send, size_t count, occlDataType_t dtype, int peer,
                         int tag, occlComm_t comm, orStream_t stream) {
  if (tag < 0 || tag > occlMaxTag) return refuse_tag(__func__, tag);
  return add_message(__func__, Call::kSend, const_cast<void*>(send), count, dtype, peer,
                     tag, comm, stream);
}

occlResult_t occlRecvTag(void* recv, size_t count, occlDataType_t dtype, int peer,
                         int tag, occlComm_t comm, orStream_t stream) {
  if (tag < 0 || tag > occlMaxTag) return refuse_tag(__func__, tag);
  return add_message(__func__, Call::kRecv, recv, count, dtype, peer, tag, comm,
                     stream);
}

occlResult_t occlVerify(const char* text, occlComm_t comm, orStream_t stream) {
  if (text == nullptr) return refuse(__func__, occlInvalidArgument, "text is null");
  return add_call(__func__, {.kind = Call::kVerify, .text = text}, nullptr, 0, nullptr,
                  0, comm, stream);
}

occlResult_t occlMonitoredBarrier(occlComm_t handle, int64_t timeoutMs) {
  return enter(__func__, [&] {
    const auto comm = find_comm(handle);
    Operation barrier;
    barrier.timeout = timeoutMs > 0 ? Milliseconds(timeoutMs) : comm->timeout;
    barrier.collective = true;
    {
      const std::lock_guard lock(comm->order);
      barrier.head.fingerprint =
          CollectiveFingerprint(comm->collectives++, "occlMonitoredBarrier", {});
    }
    comm->run(barrier);
  });
}

occlResult_t occlGroupStart(void) {
  group.open();
  return occlSuccess;
}

occlResult_t occlGroupEnd(void) {
  return caught(__func__, [] { end_group(nullptr); });
}

occlResult_t occlGroupEndWith(const occlGroupOptions_t* options) {
  return caught(__func__, [&] {
    require_pointer(options, "options");
    end_group(options);
  });
}
