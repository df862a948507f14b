// Communicators: how ranks find each other, and errors; see
// docs/modules/distributed.md.
#include "occl_comm.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "occl_collectives.h"
#include "occl_messages.h"
#include "occl_net.h"

namespace openreg::occl {
namespace {

constexpr int kMaxRanks = 4096;  // the table of messages must fit on a page
constexpr int64_t kDefaultTimeout = 600'000;

// Plain bytes, which stay usable until a thread ends, unlike a string.
thread_local char last_error[2048] = "";
thread_local char asked_error[2048] = "";

Milliseconds timeout_of(const occlConfig_t& config) {
  return Milliseconds(config.timeoutMs > 0 ? config.timeoutMs : kDefaultTimeout);
}

}  // namespace

occlResult_t refuse(const char* function, occlResult_t result,
                    const char* text) noexcept {
  std::snprintf(last_error, sizeof last_error, "%s(): %s", function, text);
  return result;
}

Comm::Comm(int size, const SharedFile& shared, int rank, const occlConfig_t& config)
    : rank(rank),
      size(size),
      device(driver::thread.device),
      timeout(timeout_of(config)) {
  struct Closer {
    const SharedFile& shared;
    ~Closer() { shared.close_own(); }
  } const closer{shared};  // when every rank has joined, or none can
  std::string why;
  memory_ = SharedMemoryRendezvous::open(shared, rank, size, &why);
  if (config.net != nullptr) {
    net_ = *config.net;
    if (!agree_to_share(memory_ != nullptr)) memory_.reset();
  } else if (memory_ == nullptr) {
    throw Failure(occlSystemError,
                  why + "; ranks on several hosts need a network plug-in");
  }
  if (memory_ != nullptr) memory_->join(timeout);
}

bool Comm::agree_to_share(bool mine) const {
  const auto shares = static_cast<char>(mine);
  std::string all(size, '\0');
  NetOperations(*net_, rank, size, timeout).all_gather(&shares, all.data(), 1);
  return all.find('\0') == std::string::npos;
}

Comm::~Comm() {
  if (net_ && net_->close != nullptr) net_->close(net_->context);
}

void Comm::run(Operation& operation) {
  const auto last = std::chrono::steady_clock::now() + operation.timeout;
  try {
    run_now(operation);
  } catch (const Failure& failure) {
    // A rank that waited too long has broken the rendezvous or closed a connection.
    const bool misused = failure.result == occlInvalidUsage;
    if (misused || std::chrono::steady_clock::now() < last) throw;
    throw Failure(occlTimeout, failure.what());
  }
}

void Comm::run_now(Operation& operation) {
  if (aborted_) throw Failure(occlRemoteError, "the communicator was aborted");
  if (memory_ != nullptr) {
    operation.collective ? SharedMemoryCollectives(*memory_).run(operation)
                         : run_messages(*memory_, operation);
    return;
  }
  NetOperations net(*net_, rank, size, operation.timeout);
  if (!operation.collective) return net.run_messages(operation);
  const std::lock_guard lock(net_mutex_);
  net.run(operation);
}

void Comm::abort() noexcept {
  if (aborted_.exchange(true)) return;
  if (memory_ != nullptr) {
    memory_->fail(joined("rank ", rank, " called abort()"));
  } else {
    net_->abort(net_->context);
  }
}

void Comm::set_error(occlResult_t result, const std::string& text) {
  const std::lock_guard lock(error_mutex_);
  if (error_ != occlSuccess) return;
  error_ = result;
  error_text_ = text;
}

occlResult_t Comm::error(std::string* text) const {
  const std::lock_guard lock(error_mutex_);
  *text = error_text_;
  return error_;
}

driver::Ref<Comm> find_comm(occlComm_t handle) {
  auto comm = driver::table<Comm>.find(handle);
  if (!comm) {
    throw Failure(occlInvalidArgument,
                  "the communicator is not live: it was destroyed or aborted, or not "
                  "made by occlCommInitRank()");
  }
  return comm;
}

}  // namespace openreg::occl

using namespace openreg::occl;

const char* occlGetErrorString(occlResult_t result) {
  switch (result) {
    case occlSuccess:
      return "no error";
    case occlUnhandledError:
      return "a driver call failed";
    case occlSystemError:
      return "a system or network call failed";
    case occlInternalError:
      return "internal error of the library";
    case occlInvalidArgument:
      return "an argument is not valid";
    case occlInvalidUsage:
      return "the call does not match the other calls";
    case occlRemoteError:
      return "another rank has failed";
    case occlInProgress:
      return "the call is in progress";
    case occlTimeout:
      return "timed out waiting for another rank";
  }
  return "not a result of this library";
}

const char* occlGetLastError(occlComm_t handle) {
  if (handle == nullptr) return last_error;
  asked_error[0] = '\0';
  if (const auto comm = openreg::driver::table<Comm>.find(handle)) {
    std::string text;
    comm->error(&text);
    std::snprintf(asked_error, sizeof asked_error, "%s", text.c_str());
  }
  return asked_error;
}

occlResult_t occlGetUniqueId(occlUniqueId* id) {
  return enter(__func__, [&] {
    require_pointer(id, "id");
    const SharedFile shared = SharedFile::make();
    *id = {};
    std::memcpy(id, &shared, sizeof shared);
  });
}

occlResult_t occlCommInitRank(occlComm_t* comm, int nranks, occlUniqueId id, int rank) {
  return occlCommInitRankConfig(comm, nranks, id, rank, nullptr);
}

occlResult_t occlCommInitRankConfig(occlComm_t* comm, int nranks, occlUniqueId id,
                                    int rank, const occlConfig_t* config) {
  return enter("occlCommInitRank", [&] {
    require_pointer(comm, "comm");
    SharedFile shared;
    std::memcpy(&shared, &id, sizeof shared);
    if (!shared.is_valid()) {
      throw Failure(occlInvalidArgument, "the id was not made by occlGetUniqueId()");
    }
    if (nranks < 1 || nranks > kMaxRanks || rank < 0 || rank >= nranks) {
      throw Failure(
          occlInvalidArgument,
          joined("rank ", rank, " of ", nranks,
                 ": the rank must be below the number of ranks, which is from 1 to ",
                 kMaxRanks));
    }
    const occlConfig_t given = config != nullptr ? *config : occlConfig_t{};
    occlComm_t handle = nullptr;
    if (!openreg::driver::table<Comm>.create(&handle, nranks, shared, rank, given)) {
      throw Failure(occlSystemError, "there are too many communicators: destroy some");
    }
    *comm = handle;
  });
}

// These two work in a forked child and even while the process exits: they free what the
// process has, and tell the other ranks only what is true.
occlResult_t occlCommDestroy(occlComm_t handle) {
  if (handle == nullptr || openreg::driver::table<Comm>.remove(handle)) {
    return occlSuccess;
  }
  return refuse(__func__, occlInvalidArgument, "the communicator is not live");
}

occlResult_t occlCommAbort(occlComm_t handle) {
  if (handle == nullptr) return occlSuccess;
  if (const auto comm = openreg::driver::table<Comm>.remove(handle)) {
    comm->abort();
    return occlSuccess;
  }
  return refuse(__func__, occlInvalidArgument, "the communicator is not live");
}

occlResult_t occlCommGetAsyncError(occlComm_t comm, occlResult_t* error) {
  return enter(__func__, [&] {
    require_pointer(error, "error");
    std::string text;
    *error = find_comm(comm)->error(&text);
  });
}

occlResult_t occlCommCount(occlComm_t comm, int* count) {
  return enter(__func__, [&] {
    require_pointer(count, "count");
    *count = find_comm(comm)->size;
  });
}

occlResult_t occlCommUserRank(occlComm_t comm, int* rank) {
  return enter(__func__, [&] {
    require_pointer(rank, "rank");
    *rank = find_comm(comm)->rank;
  });
}

occlResult_t occlCommOrDevice(occlComm_t comm, int* device) {
  return enter(__func__, [&] {
    require_pointer(device, "device");
    *device = find_comm(comm)->device;
  });
}

occlResult_t occlCommSharesMemory(occlComm_t comm, int* shares) {
  return enter(__func__, [&] {
    require_pointer(shares, "shares");
    *shares = find_comm(comm)->shares_memory() ? 1 : 0;
  });
}
