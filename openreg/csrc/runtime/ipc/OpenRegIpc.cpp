// Storages that several processes share; see docs/frontend/ipc.md.
#include "csrc/runtime/ipc/OpenRegIpc.h"

#include <c10/util/ScopeExit.h>
#include <openreg_ipc.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "csrc/runtime/device/OpenRegFunctions.h"
#include "csrc/runtime/device/OpenRegInit.h"
#include "csrc/runtime/ipc/OpenRegIpcLedger.h"
#include "csrc/runtime/memory/OpenRegDeviceAllocator.h"
#include "csrc/runtime/memory/OpenRegStorage.h"
#include "csrc/runtime/stream/StreamCapture.h"

namespace openreg {
namespace {

// LITERALINCLUDE START: MESSAGE
struct Message {
  LedgerName ledger;        // of the sender
  uint64_t ticket;          // where in it this message stands
  uint64_t storage;         // the sender's storage_id()
  orIpcMemHandle_t memory;  // the allocation of the driver: a whole segment
  size_t offset;            // of the storage in the segment, in bytes
  size_t bytes;
  DeviceIndex device;
};
// LITERALINCLUDE END: MESSAGE

// Torch takes the GIL when a storage with a Python object is copied or freed. That must
// not happen under a lock below, because others wait for the lock with the GIL. So a
// pointer to the storage is copied instead.
struct Sent {
  uint64_t ticket;
  std::shared_ptr<const c10::Storage> storage;  // keeps its block from being reused
};

// Never destroyed: storages may be freed while the process exits.
struct Sender {
  SentLedger ledger;
  std::mutex lock;
  std::vector<Sent> sent;
};

Sender& sender() {
  static auto* only = [] {
    OpenRegDeviceAllocator::get().on_full([] { return ipc_collect() > 0; });
    return new Sender;
  }();
  return *only;
}

// A storage of another process: inode of its ledger, and storage_id() there.
using Key = std::pair<uint64_t, uint64_t>;

struct Received {
  Key key;
  void* segment;
  std::shared_ptr<ReceivedLedger> ledger;
  uint64_t ticket;
};

std::mutex received_lock;
auto& received = *new std::map<Key, c10::weak_intrusive_ptr<c10::StorageImpl>>;

// LITERALINCLUDE START: RELEASE_RECEIVED
void release_received(void* context) {
  const std::shared_ptr<Received> memory(static_cast<Received*>(context));
  if (is_in_bad_fork()) {
    return;  // it belongs to the parent
  }
  {
    const std::lock_guard lock(received_lock);
    const auto entry = received.find(memory->key);
    if (entry != received.end() && entry->second.expired()) {
      received.erase(entry);
    }
  }
  after_captures([memory] {                                   // (1)
    if (orIpcCloseMemHandle(memory->segment) == orSuccess) {  // (2)
      memory->ledger->release(memory->ticket);                // (3)
    }
  });
}
// LITERALINCLUDE END: RELEASE_RECEIVED

std::optional<c10::Storage> find_received(const Key& key) {
  std::unique_lock lock(received_lock);
  const auto entry = received.find(key);
  if (entry == received.end()) {
    return std::nullopt;
  }
  const auto weak = entry->second;
  lock.unlock();
  auto storage = weak.lock();
  return storage ? std::optional(c10::Storage(std::move(storage))) : std::nullopt;
}

Message parse(const std::string& bytes) {
  Message message;
  TORCH_CHECK_VALUE(bytes.size() == sizeof message,
                    "openreg: a shared-memory message has ", sizeof message,
                    " bytes, not ", bytes.size());
  std::memcpy(static_cast<void*>(&message), bytes.data(), sizeof message);
  return message;
}

// The storage must be inside the segment, because kernels rely on it.
void check_range(const Message& message, const void* segment) {
  orPointerAttributes there{};
  OPENREG_CHECK(orPointerGetAttributes(&there, segment));
  TORCH_CHECK_VALUE(message.device == there.device && message.bytes <= there.size &&
                        message.offset <= there.size - message.bytes,
                    "openreg: invalid shared-memory message: ", message.bytes,
                    " bytes at ", message.offset,
                    " are not inside the segment, which has ", there.size, " bytes");
}

// The message came back to the process that sent it.
c10::Storage receive_own(const Message& message) {
  Sender& own = sender();
  std::unique_lock lock(own.lock);
  const auto entry =
      std::find_if(own.sent.begin(), own.sent.end(),
                   [&](const Sent& sent) { return sent.ticket == message.ticket; });
  TORCH_CHECK(
      entry != own.sent.end() && message.ledger.inode == own.ledger.name().inode,
      "openreg: this message was received before, and its memory was released to the "
      "sender: send the tensor once for each receiver");
  own.ledger.mark_taken(message.ticket);
  const auto storage = entry->storage;
  lock.unlock();
  return *storage;
}

}  // namespace

// VENDOR: whether your driver shares memory between processes
// LITERALINCLUDE START: IPC_SEND
std::string ipc_send(const c10::Storage& storage) {
  initialize();  // throws in a forked child
  ipc_collect();
  void* data = storage.mutable_data();  // (1)
  TORCH_CHECK(storage.data_ptr().get_deleter() != &release_received,
              "openreg: cannot send a tensor that was itself received from another "
              "process: send a clone() of it");
  orPointerAttributes segment{};
  OPENREG_CHECK(orPointerGetAttributes(&segment, data));
  Message message{};
  OPENREG_CHECK(orIpcGetMemHandle(&message.memory, segment.base));  // (2)
  message.offset =
      static_cast<size_t>(static_cast<char*>(data) - static_cast<char*>(segment.base));
  message.bytes = storage.nbytes();
  message.device = storage.device().index();
  message.storage = storage_id(storage);
  // LITERALINCLUDE END: IPC_SEND

  // LITERALINCLUDE START: IPC_KEEP
  synchronize(message.device);  // (1)
  Sender& own = sender();
  message.ledger = own.ledger.name();
  storage.unsafeGetStorageImpl()->set_resizable(false);  // (2)
  message.ticket = own.ledger.add();
  auto kept = std::make_shared<const c10::Storage>(storage);
  const std::lock_guard lock(own.lock);
  own.sent.push_back({message.ticket, std::move(kept)});  // (3)
  return {reinterpret_cast<const char*>(&message), sizeof message};
}
// LITERALINCLUDE END: IPC_KEEP

// LITERALINCLUDE START: IPC_RECEIVE
c10::Storage ipc_receive(const std::string& bytes) {
  initialize();
  const Message message = parse(bytes);
  if (message.ledger.process == getpid()) {
    return receive_own(message);
  }
  const Key key{message.ledger.inode, message.storage};
  auto ledger = ReceivedLedger::open(message.ledger);
  ledger->take(message.ticket);  // (1)
  auto give_back =
      c10::make_scope_exit([&] { ledger->release(message.ticket); });  // (2)
  if (const auto known = find_received(key)) {
    return *known;
  }
  // LITERALINCLUDE END: IPC_RECEIVE

  // LITERALINCLUDE START: IPC_OPEN
  auto memory = std::make_unique<Received>(Received{key, {}, ledger, message.ticket});
  OPENREG_CHECK(orIpcOpenMemHandle(&memory->segment, message.memory));  // (1)
  give_back.release();
  void* const segment = memory->segment;
  c10::DataPtr data(static_cast<char*>(segment) + message.offset, memory.release(),
                    &release_received, {c10::DeviceType::PrivateUse1, message.device});
  check_range(message, segment);  // (2)
  const c10::Storage storage(c10::make_intrusive<OpenRegStorageImpl>(
      message.bytes, std::move(data), &OpenRegDeviceAllocator::get(),
      /*resizable=*/false));
  const std::lock_guard lock(received_lock);
  received.insert_or_assign(key, storage.getWeakStorageImpl());
  return storage;
}
// LITERALINCLUDE END: IPC_OPEN

// LITERALINCLUDE START: IPC_COLLECT
size_t ipc_collect() {
  initialize();
  Sender& own = sender();
  std::vector<Sent> freed;  // destroyed after the lock is released
  const std::lock_guard lock(own.lock);
  const auto free = std::partition(
      own.sent.begin(), own.sent.end(),
      [&](const Sent& sent) { return !own.ledger.close_if_free(sent.ticket); });
  freed.assign(std::make_move_iterator(free), std::make_move_iterator(own.sent.end()));
  own.sent.erase(free, own.sent.end());
  return freed.size();
}
// LITERALINCLUDE END: IPC_COLLECT

}  // namespace openreg
