// Messages through memory that two ranks share; see docs/modules/distributed.md.
//
// The sender posts a message in its own slot and rings the receiver's bell. The
// receiver selects the matching slot and accepts the message, or rejects it if size or
// type differ. The bytes go through the slot's buffer, a ring of four chunks.
#include "occl_messages.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "occl_failure.h"

namespace openreg::occl {
namespace {

using std::chrono::steady_clock;

constexpr size_t kChunk = MessageSlot::kBytes / 4;

class Transfer {
 public:
  Transfer(SharedMemoryRendezvous& memory, const Call& call)
      : memory_(memory), call_(call), peer_(call.peer) {}

  bool done() const { return done_; }
  bool sends() const { return call_.kind == Call::kSend; }
  int peer() const { return peer_; }  // of a receive from any: known after the match
  const std::string& failure() const { return failure_; }

  // Messages of one tag between two ranks keep their order: this one may not begin
  // while `earlier`, a transfer of the same operation, has not begun.
  bool follows(const Transfer& earlier) const {
    const bool any = call_.peer == occlAnySource || earlier.call_.peer == occlAnySource;
    return sends() == earlier.sends() && call_.tag == earlier.call_.tag &&
           (any || call_.peer == earlier.call_.peer);
  }
  bool began() const { return slot_ != nullptr; }

  // Each does what can be done without waiting; false: nothing.
  bool begin() { return sends() ? post() : take(); }
  bool progress() {
    if (done_ || slot_ == nullptr) return false;
    return sends() ? write() : read();
  }

 private:
  bool post() {
    for (int index = 0; index < SharedMemoryRendezvous::kSlots; ++index) {
      MessageSlot& slot = memory_.slot(memory_.rank(), index);
      uint32_t expected = MessageSlot::kFree;
      if (!slot.state.compare_exchange_strong(expected, MessageSlot::kFilling)) {
        continue;
      }
      slot.to = peer_;
      slot.tag = call_.tag;
      slot.dtype = call_.dtype;
      slot.order = memory_.next_order();
      slot.bytes = call_.bytes();
      slot.written = slot.read = 0;
      slot.state = MessageSlot::kPosted;
      use(slot, memory_.buffer(memory_.rank(), index));
      memory_.ring(peer_);
      return true;
    }
    return false;  // all slots are taken; one that gets free rings no bell, see write()
  }

  // The oldest message of `rank` for this receive, or null.
  MessageSlot* oldest_of(int rank, int* index, uint64_t* order) const {
    MessageSlot* oldest = nullptr;
    for (int i = 0; i < SharedMemoryRendezvous::kSlots; ++i) {
      MessageSlot& slot = memory_.slot(rank, i);
      if (slot.state == MessageSlot::kPosted && slot.to == memory_.rank() &&
          slot.tag == call_.tag && (oldest == nullptr || slot.order < *order)) {
        oldest = &slot;
        *order = slot.order;
        *index = i;
      }
    }
    return oldest;
  }

  bool take() {
    const bool any = call_.peer == occlAnySource;
    for (int rank = any ? 0 : call_.peer; rank < memory_.size(); ++rank) {
      int index = 0;
      uint64_t order = 0;
      // Checks twice: an older message may have arrived in a slot that the first check
      // had passed.
      MessageSlot* slot = oldest_of(rank, &index, &order);
      if (slot != nullptr) slot = oldest_of(rank, &index, &order);
      uint32_t expected = MessageSlot::kPosted;
      if (slot != nullptr &&
          slot->state.compare_exchange_strong(expected, MessageSlot::kTaken)) {
        if (slot->order == order) {
          accept(*slot, rank, index);
          return true;
        }
        // Another stream of this rank was faster, and the slot has a new message.
        const int to = slot->to;
        slot->state = MessageSlot::kPosted;
        memory_.ring(to);
      }
      if (!any) break;
    }
    return false;
  }

  void accept(MessageSlot& slot, int rank, int index) {
    peer_ = rank;
    bytes_ = call_.bytes();
    const bool fits = slot.bytes == bytes_ && slot.dtype == call_.dtype;
    if (!fits) failure_ = describe_misfit(call_, rank, slot.bytes, slot.dtype);
    slot.expected_bytes = bytes_;
    slot.expected_dtype = call_.dtype;
    done_ = !fits || bytes_ == 0;
    use(slot, memory_.buffer(rank, index));
    slot.state = fits ? MessageSlot::kAccepted : MessageSlot::kRefused;
    memory_.ring(rank);
  }

  // Calls `copy` for the chunk of the buffer that begins with byte `position`.
  template <class Copy>
  size_t chunk(uint64_t position, uint64_t limit, const Copy& copy) const {
    const size_t place = position % MessageSlot::kBytes;
    const size_t count = std::min(
        {limit - position, uint64_t{kChunk}, uint64_t{MessageSlot::kBytes - place}});
    copy(buffer_ + place, count);
    return count;
  }

  bool write() {
    if (slot_->state == MessageSlot::kRefused) {
      failure_ =
          describe_misfit(call_, peer_, slot_->expected_bytes, slot_->expected_dtype);
      return release();
    }
    if (slot_->state != MessageSlot::kAccepted) return false;
    if (slot_->read == bytes_) return release();
    const uint64_t position = slot_->written;
    const uint64_t limit = std::min(bytes_, slot_->read + MessageSlot::kBytes);
    if (position == limit) return false;
    slot_->written += chunk(position, limit, [&](std::byte* place, size_t count) {
      std::memcpy(place, call_.send + position, count);
    });
    memory_.ring(peer_);
    return true;
  }

  bool release() {
    slot_->state = MessageSlot::kFree;
    memory_.ring(memory_.rank());  // another stream may wait for a slot
    return done_ = true;
  }

  bool read() {
    const uint64_t position = slot_->read;
    if (done_ || position == slot_->written) return false;
    const size_t count =
        chunk(position, slot_->written, [&](std::byte* place, size_t length) {
          std::memcpy(call_.recv + position, place, length);
        });
    done_ = position + count == bytes_;
    slot_->read = position + count;  // after the last byte the slot is the sender's
    memory_.ring(peer_);
    return true;
  }

  void use(MessageSlot& slot, std::byte* buffer) {
    slot_ = &slot;
    buffer_ = buffer;
    bytes_ = call_.bytes();
  }

  SharedMemoryRendezvous& memory_;
  const Call& call_;
  int peer_;
  MessageSlot* slot_ = nullptr;
  std::byte* buffer_ = nullptr;
  uint64_t bytes_ = 0;
  std::string failure_;
  bool done_ = false;
};

// Begins the transfers that can; false: none.
bool begin_in_order(std::vector<Transfer>& transfers) {
  bool moved = false;
  std::vector<const Transfer*> held;
  for (Transfer& transfer : transfers) {
    const auto held_by = [&](const Transfer* earlier) {
      return transfer.follows(*earlier);
    };
    if (transfer.began()) continue;
    if (std::none_of(held.begin(), held.end(), held_by)) moved |= transfer.begin();
    if (!transfer.began()) held.push_back(&transfer);
  }
  return moved;
}

// Breaks the communicator if a transfer waits for a rank that has ended or left.
void check_peer(SharedMemoryRendezvous& memory, const Transfer& transfer) {
  if (transfer.peer() != occlAnySource) {
    const std::string why = memory.gone(transfer.peer());
    if (!why.empty()) memory.fail(joined("rank ", transfer.peer(), why));
    return;
  }
  for (int rank = 0; rank < memory.size(); ++rank) {
    if (rank != memory.rank() && memory.gone(rank).empty()) return;
  }
  memory.fail("every other rank has ended or left the group");
}

}  // namespace

std::string describe_misfit(const Call& call, int peer, uint64_t bytes, int dtype) {
  const bool sends = call.kind == Call::kSend;
  return joined("this rank ", sends ? "sends " : "expects ", call.bytes(), " bytes of ",
                name_of(call.dtype), ", rank ", peer, sends ? " expects " : " sends ",
                bytes, " bytes of ", name_of(static_cast<occlDataType_t>(dtype)));
}

// LITERALINCLUDE START: SHM_MESSAGES
void run_messages(SharedMemoryRendezvous& memory, Operation& operation) {
  std::vector<Transfer> transfers;
  transfers.reserve(operation.calls.size());
  for (const Call& call : operation.calls) transfers.emplace_back(memory, call);
  const auto end = steady_clock::now() + operation.timeout;
  bool check = false;
  for (;;) {
    const uint32_t bell = memory.bell();  // (1)
    bool moved = begin_in_order(transfers);
    const Transfer* waiting = nullptr;
    for (Transfer& transfer : transfers) {
      moved |= transfer.progress();
      if (!transfer.done()) waiting = &transfer;
    }
    if (waiting == nullptr) break;
    if (moved) continue;
    // LITERALINCLUDE END: SHM_MESSAGES
    // LITERALINCLUDE START: SHM_ASLEEP
    if (std::exchange(check, false)) check_peer(memory, *waiting);  // (1)
    memory.throw_if_broken();
    const auto left = std::chrono::ceil<Milliseconds>(end - steady_clock::now());
    if (left.count() <= 0) {
      const int peer = waiting->peer();
      memory.fail(joined("timed out after ", operation.timeout.count(), " ms without ",
                         peer == occlAnySource ? "a message" : joined("rank ", peer)));
    } else {
      check = !memory.sleep(bell, std::min(left, kCheckInterval));
    }
  }
  // LITERALINCLUDE END: SHM_ASLEEP
  for (const Transfer& transfer : transfers) {
    if (!transfer.failure().empty()) {
      throw Failure(occlInvalidUsage, transfer.failure());
    }
    if (!transfer.sends()) operation.source = transfer.peer();
  }
}

}  // namespace openreg::occl
