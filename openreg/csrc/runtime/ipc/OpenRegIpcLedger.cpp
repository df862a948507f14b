// Tracks which processes still use memory that was sent to them; see
// docs/frontend/ipc.md.
#include "csrc/runtime/ipc/OpenRegIpcLedger.h"

#include <c10/util/Exception.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace openreg {
namespace {

// Locks, or unlocks, the byte of a ticket. The lock belongs to the open file ("OFD"),
// not to the process: closing another descriptor of the same file does not end it.
bool lock_byte(int file, uint64_t ticket, short kind, int command) noexcept {
  struct flock range = {};
  range.l_type = kind;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(ticket);
  range.l_len = 1;
  int result = 0;
  do {
    result = fcntl(file, command, &range);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

void write_state(int file, uint64_t ticket, Ticket state) {
  TORCH_CHECK(pwrite(file, &state, 1, static_cast<off_t>(ticket)) == 1,
              "openreg: cannot record what was sent to other processes: ",
              std::strerror(errno));
}

Ticket read_state(int file, uint64_t ticket) noexcept {
  Ticket state = Ticket::kClosed;  // of a ticket that was never written
  return pread(file, &state, 1, static_cast<off_t>(ticket)) == 1 ? state
                                                                 : Ticket::kClosed;
}

}  // namespace

SentLedger::SentLedger() {
  name_.process = getpid();
  name_.file =
      memfd_create("openreg-sent", MFD_CLOEXEC);  // open until the process ends
  struct stat status = {};
  TORCH_CHECK(name_.file >= 0 && fstat(name_.file, &status) == 0,
              "openreg: cannot send memory to another process: memfd_create: ",
              std::strerror(errno));
  name_.inode = status.st_ino;
}

uint64_t SentLedger::add() {
  const std::lock_guard lock(lock_);
  write_state(name_.file, next_, Ticket::kSent);
  return next_++;
}

// LITERALINCLUDE START: CLOSE_IF_FREE
bool SentLedger::close_if_free(uint64_t ticket) {
  if (read_state(name_.file, ticket) == Ticket::kSent) {
    return false;  // (1)
  }
  if (!lock_byte(name_.file, ticket, F_WRLCK, F_OFD_SETLK)) {
    return false;  // (2)
  }
  write_state(name_.file, ticket, Ticket::kClosed);  // (3)
  lock_byte(name_.file, ticket, F_UNLCK, F_OFD_SETLK);
  return true;
}
// LITERALINCLUDE END: CLOSE_IF_FREE

void SentLedger::mark_taken(uint64_t ticket) {
  write_state(name_.file, ticket, Ticket::kTaken);
}

std::shared_ptr<ReceivedLedger> ReceivedLedger::open(const LedgerName& name) {
  static std::mutex mutex;
  static auto& known = *new std::map<uint64_t, std::weak_ptr<ReceivedLedger>>;
  const std::lock_guard lock(mutex);
  if (auto ledger = known[name.inode].lock()) {
    return ledger;
  }
  known.erase(name.inode);
  const std::string path =
      "/proc/" + std::to_string(name.process) + "/fd/" + std::to_string(name.file);
  std::shared_ptr<ReceivedLedger> ledger(new ReceivedLedger(
      ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK)));  // closes the file
  TORCH_CHECK(
      ledger->file_ >= 0, "openreg: process ", name.process,
      ", which sent this tensor, has ended before it was received, or cannot be "
      "reached (",
      path, ": ", std::strerror(errno),
      "). Keep the sender running until the receiver has the tensor");
  struct stat status = {};
  TORCH_CHECK(fstat(ledger->file_, &status) == 0 && status.st_ino == name.inode,
              "openreg: process ", name.process,  // another process has its number now
              ", which sent this tensor, has ended before it was received. Keep the "
              "sender running until the receiver has the tensor");
  known[name.inode] = ledger;
  return ledger;
}

ReceivedLedger::~ReceivedLedger() {
  if (file_ >= 0) {
    close(file_);
  }
}

// LITERALINCLUDE START: TAKE_TICKET
void ReceivedLedger::take(uint64_t ticket) {
  const std::lock_guard lock(lock_);
  TORCH_CHECK(
      held_.contains(ticket) || lock_byte(file_, ticket, F_RDLCK, F_OFD_SETLKW),  // (1)
      "openreg: cannot lock received memory: ", std::strerror(errno));
  if (read_state(file_, ticket) == Ticket::kClosed) {  // (2)
    lock_byte(file_, ticket, F_UNLCK, F_OFD_SETLK);
    TORCH_CHECK(false, "openreg: this message was received before, and its memory was ",
                "released to the sender: send the tensor once for each receiver");
  }
  held_[ticket] += 1;
  write_state(file_, ticket, Ticket::kTaken);  // (3)
}
// LITERALINCLUDE END: TAKE_TICKET

void ReceivedLedger::release(uint64_t ticket) noexcept {
  const std::lock_guard lock(lock_);
  const auto held = held_.find(ticket);
  if (--held->second == 0) {
    held_.erase(held);
    lock_byte(file_, ticket, F_UNLCK, F_OFD_SETLK);
  }
}

}  // namespace openreg
