// Fills a network plug-in of OCCL with Gloo; see docs/modules/distributed.md.
#include "csrc/distributed/GlooNet.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <cstdio>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

namespace openreg {
namespace {

using GlooWork = c10::intrusive_ptr<c10d::Work>;
using HostTensors = std::vector<at::Tensor>;

// No message has this tag: those of OCCL are smaller.
constexpr int kUnusedTag = std::numeric_limits<int>::max();

// Of the last failing call of this thread. No std::string: its destructor would run
// before those of other variables of the thread, which may still call the library.
thread_local char net_error[1024] = "";

void keep_error(const char* text) {
  std::snprintf(net_error, sizeof net_error, "%s", text);
}

struct GlooRequest {
  GlooWork work;
  bool from_any;
};

// Runs `body`; no exception enters the library.
template <class Body>
occlResult_t without_exceptions(const Body& body) {
  try {
    body();
    return occlSuccess;
  } catch (const c10::Error& error) {
    keep_error(error.what_without_backtrace());
  } catch (const std::exception& error) {
    keep_error(error.what());
  }
  return occlSystemError;
}

at::Tensor bytes_at(const void* data, size_t bytes) {
  return at::from_blob(const_cast<void*>(data), {static_cast<int64_t>(bytes)},
                       at::kByte);
}

// VENDOR: the network of your library; this plug-in sends all data through the host
// The functions of the plug-in; the context is one of these.
class GlooNet {
 public:
  explicit GlooNet(c10::intrusive_ptr<c10d::Backend> gloo) : gloo_(std::move(gloo)) {}

  // LITERALINCLUDE START: GLOO_NET
  static occlResult_t all_gather(void* context, const void* mine, void* all,
                                 size_t bytes, int64_t timeout) {
    return without_exceptions([&] {
      c10d::Backend& gloo = *of(context).gloo_;
      HostTensors row{bytes_at(mine, bytes)};
      const auto ranks = static_cast<size_t>(gloo.getSize());
      std::vector<HostTensors> rows{
          bytes_at(all, bytes * ranks).split(static_cast<int64_t>(bytes))};
      c10d::AllgatherOptions options;
      options.timeout = std::chrono::milliseconds(timeout);
      gloo.allgather(rows, row, options)->wait();
    });
  }

  static occlResult_t isend(void* context, const void* data, size_t bytes, int peer,
                            int tag, void** request) {
    return without_exceptions([&] {
      HostTensors tensors{bytes_at(data, bytes)};
      *request = new GlooRequest{of(context).gloo_->send(tensors, peer, tag), false};
    });
  }
  // LITERALINCLUDE END: GLOO_NET

  static occlResult_t irecv(void* context, void* data, size_t bytes, int peer, int tag,
                            void** request) {
    return without_exceptions([&] {
      c10d::Backend& gloo = *of(context).gloo_;
      HostTensors tensors{bytes_at(data, bytes)};
      const bool any = peer == occlAnySource;
      *request = new GlooRequest{
          any ? gloo.recvAnysource(tensors, tag) : gloo.recv(tensors, peer, tag), any};
    });
  }

  static occlResult_t wait(void* context, void* request, int64_t timeout, int* source) {
    const std::unique_ptr<GlooRequest> owned(static_cast<GlooRequest*>(request));
    return without_exceptions([&] {
      const std::chrono::milliseconds time(timeout);
      if (!owned->from_any) {
        owned->work->wait(time);
        return;
      }
      of(context).wait_for_any(owned->work, time);
      if (source != nullptr) {
        *source = owned->work->sourceRank();
      }
    });
  }

  static void abort(void* context) { of(context).abort_all(); }
  static void close(void* context) { delete &of(context); }
  static const char* last_error(void*) { return net_error; }

 private:
  static GlooNet& of(void* context) { return *static_cast<GlooNet*>(context); }

  // A receive from any rank waits for no connection in particular: closing them all, as
  // abort_all() does, would not wake it.
  void wait_for_any(const GlooWork& message, std::chrono::milliseconds timeout) {
    {
      const std::lock_guard lock(mutex_);
      TORCH_CHECK(!aborted_, "the network was aborted");
      from_any_.insert(message);
    }
    bool arrived = false;
    std::exception_ptr failure;
    try {
      arrived = message->wait(timeout);
    } catch (const std::exception&) {
      failure = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex_);
      from_any_.erase(message);
    }
    if (failure) {
      std::rethrow_exception(failure);
    }
    TORCH_CHECK(arrived, "the network was aborted");
  }

  // LITERALINCLUDE START: GLOO_ABORT
  void abort_all() {
    {
      const std::lock_guard lock(mutex_);
      aborted_ = true;
      for (const GlooWork& message : from_any_) {
        message->abort();
      }
    }
    if (gloo_->getSize() == 1) {
      return;
    }
    // Gloo cannot cancel running operations. However, it closes all connections of a
    // group when a receive times out, so this waits for a message that no rank sends.
    without_exceptions([&] {
      HostTensors nothing{at::empty({1}, at::kByte)};
      gloo_->recv(nothing, gloo_->getRank() == 0 ? 1 : 0, kUnusedTag)
          ->wait(std::chrono::milliseconds(1));
    });
  }
  // LITERALINCLUDE END: GLOO_ABORT

  const c10::intrusive_ptr<c10d::Backend> gloo_;
  std::mutex mutex_;
  bool aborted_ = false;
  std::set<GlooWork> from_any_;  // that wait now
};

}  // namespace

occlNet_t make_gloo_net(c10::intrusive_ptr<c10d::Backend> gloo) {
  return {.context = new GlooNet(std::move(gloo)),
          .allGather = GlooNet::all_gather,
          .isend = GlooNet::isend,
          .irecv = GlooNet::irecv,
          .wait = GlooNet::wait,
          .abort = GlooNet::abort,
          .close = GlooNet::close,
          .lastError = GlooNet::last_error};
}

}  // namespace openreg
