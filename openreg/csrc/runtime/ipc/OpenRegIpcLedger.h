// Tracks which processes still use memory that was sent to them; see
// docs/frontend/ipc.md.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace openreg {

// A file without a name that belongs to the sending process, with one byte for each
// message it ever sent. The receiver keeps a lock on the byte as long as it uses the
// memory. The system releases the lock even if the receiver crashes, whereas a counter
// in shared memory would then stay wrong.
enum class Ticket : char { kSent = 1, kTaken = 2, kClosed = 3 };

// What other processes need to find the ledger of this one.
struct LedgerName {
  pid_t process = 0;
  int file = -1;
  uint64_t inode = 0;  // another process may get the same number later
};

// Thread safe. Used by the sender.
class SentLedger {
 public:
  // Throws when the system gives no file.
  SentLedger();

  const LedgerName& name() const { return name_; }
  // A new ticket, marked as sent.
  uint64_t add();
  // True when the message was received and its memory is no longer held. The message is
  // then closed: receiving it again raises an error.
  bool close_if_free(uint64_t ticket);
  // The message was received by this process itself.
  void mark_taken(uint64_t ticket);

 private:
  LedgerName name_;
  std::mutex lock_;
  uint64_t next_ = 0;
};

// The same file, opened by a receiver. Thread safe.
class ReceivedLedger {
 public:
  // The ledger of that name; one for all messages of a process. Throws if the sender
  // has ended.
  static std::shared_ptr<ReceivedLedger> open(const LedgerName& name);
  ~ReceivedLedger();
  ReceivedLedger(const ReceivedLedger&) = delete;
  ReceivedLedger& operator=(const ReceivedLedger&) = delete;

  // Holds the memory of a ticket. Throws if the sender has closed it.
  void take(uint64_t ticket);
  // Takes back one take().
  void release(uint64_t ticket) noexcept;

 private:
  explicit ReceivedLedger(int file) : file_(file) {}

  const int file_;
  std::mutex lock_;
  std::map<uint64_t, int> held_;  // how often; the system does not count
};

}  // namespace openreg
