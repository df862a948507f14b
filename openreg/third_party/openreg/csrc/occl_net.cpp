// Operations of ranks on several hosts; see docs/modules/distributed.md.
#include "occl_net.h"

#include <algorithm>
#include <cstring>

#include "occl_failure.h"
#include "occl_messages.h"

namespace openreg::occl {
namespace {

// Tags of the plug-in. A message has three: what comes, the answer, and the content.
enum Kind : int { kAbout, kAnswer, kContent, kKinds };
int net_tag(const Call& call, Kind kind) { return kKinds * call.tag + kind; }
constexpr int kCollectiveTag = kKinds * (kUntagged + 1);

struct About {
  uint64_t bytes;
  int64_t dtype;
};

}  // namespace

void NetOperations::require(occlResult_t result) {
  if (result != occlSuccess) throw Failure(result, net_.lastError(net_.context));
}

void NetOperations::all_gather(const void* mine, void* all, size_t bytes) {
  require(net_.allGather(net_.context, mine, all, bytes, timeout_.count()));
}

void* NetOperations::start(bool sends, const void* data, size_t bytes, int peer,
                           int tag) {
  pending_.reserve(pending_.size() + 1);
  void* request = nullptr;
  require(sends ? net_.isend(net_.context, data, bytes, peer, tag, &request)
                : net_.irecv(net_.context, const_cast<void*>(data), bytes, peer, tag,
                             &request));
  pending_.push_back(request);
  return request;
}

int NetOperations::wait(void* request) {
  std::erase(pending_, request);
  int source = -1;
  require(net_.wait(net_.context, request, timeout_.count(), &source));
  return source;
}

NetOperations::Waiter::~Waiter() {
  for (void* request : operations.pending_) {
    operations.net_.wait(operations.net_.context, request, 1, nullptr);
  }
  operations.pending_.clear();
}

void NetOperations::transfer(const std::vector<Transfer>& transfers) {
  const Waiter waiter{*this};
  std::vector<void*> requests;
  for (const bool sends : {false, true}) {
    for (const Transfer& each : transfers) {
      if (sends != (each.send != nullptr) || each.bytes == 0) continue;
      const void* data = sends ? each.send : each.recv;
      requests.push_back(
          start(sends, data, each.bytes, each.peer, kCollectiveTag + each.number));
    }
  }
  for (void* request : requests) wait(request);
}

void NetOperations::run(const Operation& operation) {
  std::vector<Head> heads(size_);
  all_gather(&operation.head, heads.data(), sizeof(Head));
  verify(heads);
  for (const Call& call : operation.calls) {
    if (!call.is_message() && call.bytes() > 0) run_call(call);
  }
  if (std::ranges::any_of(heads, [](const Head& head) { return head.messages != 0; })) {
    exchange(operation.calls);
  }
}

// LITERALINCLUDE START: NET_REDUCE
void NetOperations::scatter_reductions(const Call& call,
                                       const std::vector<size_t>& starts,
                                       std::byte* to) {
  const size_t bytes = starts[rank_ + 1] - starts[rank_];
  std::vector<std::byte> parts(bytes * size_);
  std::vector<Transfer> transfers;
  std::vector<const std::byte*> inputs;
  for (int rank = 0; rank < size_; ++rank) {
    std::byte* part = parts.data() + rank * bytes;
    inputs.push_back(part);
    if (rank == rank_) {
      if (bytes > 0) std::memcpy(part, call.send + starts[rank_], bytes);
      continue;
    }
    const size_t theirs = starts[rank + 1] - starts[rank];
    transfers.push_back({rank, call.send + starts[rank], nullptr, theirs});
    transfers.push_back({rank, nullptr, part, bytes});
  }
  transfer(transfers);
  if (bytes > 0) reduce(call.dtype, call.op, to, inputs, bytes);
}
// LITERALINCLUDE END: NET_REDUCE

void NetOperations::run_call(const Call& call) {
  const size_t bytes = call.bytes();
  std::vector<Transfer> transfers;
  const auto to_and_from = [&](int peer, const std::byte* send, std::byte* recv,
                               size_t sent, size_t received) {
    if (send != nullptr) transfers.push_back({peer, send, nullptr, sent});
    if (recv != nullptr) transfers.push_back({peer, nullptr, recv, received});
  };
  if (call.kind == Call::kReduceScatter) {
    std::vector<size_t> starts;
    for (int rank = 0; rank <= size_; ++rank) starts.push_back(rank * bytes);
    return scatter_reductions(call, starts, call.recv);
  }
  if (call.kind == Call::kAllReduce || call.kind == Call::kReduce) {
    // Each rank reduces a part, in the order of the ranks, and sends it to the ranks
    // that need the result.
    std::vector<size_t> starts;
    for (int rank = 0; rank <= size_; ++rank) {
      starts.push_back(call.count * rank / size_ * size_of(call.dtype));
    }
    const size_t mine = starts[rank_ + 1] - starts[rank_];
    std::vector<std::byte> part(mine);
    scatter_reductions(call, starts, part.data());
    const bool all = call.kind == Call::kAllReduce;
    for (int rank = 0; rank < size_; ++rank) {
      const bool wants = all || rank == call.peer;
      if (rank == rank_) continue;
      to_and_from(rank, wants ? part.data() : nullptr,
                  all || rank_ == call.peer ? call.recv + starts[rank] : nullptr, mine,
                  starts[rank + 1] - starts[rank]);
    }
    if ((all || rank_ == call.peer) && mine > 0) {
      std::memcpy(call.recv + starts[rank_], part.data(), mine);
    }
    return transfer(transfers);
  }
  const bool gathers = call.kind == Call::kAllGather;
  std::byte* own = gathers ? call.recv + rank_ * bytes : call.recv;
  if ((gathers || rank_ == call.peer) && own != call.send) {
    std::memcpy(own, call.send, bytes);
  }
  for (int rank = 0; rank < size_; ++rank) {
    if (rank == rank_) continue;
    const bool sends = gathers || rank_ == call.peer;
    std::byte* recv = gathers             ? call.recv + rank * bytes
                      : rank == call.peer ? call.recv
                                          : nullptr;
    to_and_from(rank, sends ? call.send : nullptr, recv, bytes, bytes);
  }
  transfer(transfers);
}

void NetOperations::exchange(const std::vector<Call>& calls) {
  const std::vector<uint64_t> row = bytes_of_messages(calls, size_);
  std::vector<uint64_t> table(row.size() * size_);
  all_gather(row.data(), table.data(), row.size() * sizeof(uint64_t));
  verify_messages(table, size_);
  std::vector<int> sent(size_);
  std::vector<int> received(size_);
  std::vector<const Call*> to_self;
  std::vector<Transfer> transfers;
  for (const Call& call : calls) {
    if (!call.is_message()) continue;
    const bool sends = call.kind == Call::kSend;
    if (call.peer == rank_) {
      if (sends) to_self.push_back(&call);
      continue;
    }
    int& number = (sends ? sent : received)[call.peer];
    transfers.push_back({call.peer, call.send, call.recv, call.bytes(), number++});
  }
  size_t next = 0;
  for (const Call& call : calls) {
    if (call.kind != Call::kRecv || call.peer != rank_) continue;
    if (next == to_self.size() || to_self[next]->bytes() != call.bytes()) {
      throw Failure(occlInvalidUsage,
                    "this rank's messages to itself do not match: send as many bytes "
                    "as are received");
    }
    if (call.bytes() > 0) std::memcpy(call.recv, to_self[next]->send, call.bytes());
    ++next;
  }
  transfer(transfers);
}

void NetOperations::run_messages(Operation& operation) {
  struct Message {
    About mine, theirs = {};
    void* about = nullptr;  // first, the request for what the other rank says
    void* content = nullptr;
    std::string misfit = {};
    int peer = 0;
  };
  std::vector<Message> messages;
  messages.reserve(operation.calls.size());  // requests keep addresses
  const Waiter waiter{*this};                // goes before the messages go
  const auto each = [&](Call::Kind kind, const auto& step) {
    for (size_t i = 0; i < messages.size(); ++i) {
      if (operation.calls[i].kind == kind) step(operation.calls[i], messages[i]);
    }
  };
  std::vector<void*> sent;
  const auto send = [&](const Call& call, const void* data, size_t bytes, int peer,
                        Kind kind) {
    sent.push_back(start(true, data, bytes, peer, net_tag(call, kind)));
  };
  const auto compare = [](const Call& call, Message& message) {
    if (std::memcmp(&message.mine, &message.theirs, sizeof(About)) == 0) return true;
    message.misfit = describe_misfit(call, message.peer, message.theirs.bytes,
                                     static_cast<int>(message.theirs.dtype));
    return false;
  };
  for (const Call& call : operation.calls) {
    const bool sends = call.kind == Call::kSend;
    Message& message = messages.emplace_back(Message{{call.bytes(), call.dtype}});
    message.peer = call.peer;
    message.about = start(false, &message.theirs, sizeof(About), call.peer,
                          net_tag(call, sends ? kAnswer : kAbout));
    if (sends) send(call, &message.mine, sizeof(About), call.peer, kAbout);
  }
  each(Call::kRecv, [&](const Call& call, Message& message) {
    const int source = wait(message.about);
    if (call.peer == occlAnySource) message.peer = source;
    operation.source = message.peer;
    // Expects the content before the sender may send the next message.
    if (compare(call, message) && call.bytes() > 0) {
      message.content =
          start(false, call.recv, call.bytes(), message.peer, net_tag(call, kContent));
    }
    send(call, &message.mine, sizeof(About), message.peer, kAnswer);
  });
  each(Call::kSend, [&](const Call& call, Message& message) {
    wait(message.about);
    if (compare(call, message) && call.bytes() > 0) {
      send(call, call.send, call.bytes(), call.peer, kContent);
    }
  });
  each(Call::kRecv, [&](const Call&, Message& message) {
    if (message.content != nullptr) wait(message.content);
  });
  for (void* request : sent) wait(request);
  for (const Message& message : messages) {
    if (!message.misfit.empty()) throw Failure(occlInvalidUsage, message.misfit);
  }
}

}  // namespace openreg::occl
