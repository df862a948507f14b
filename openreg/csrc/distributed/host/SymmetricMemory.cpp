// Memory that the kernels of every rank of a group read and write; see
// docs/modules/symmetric-memory.md.
#include "csrc/distributed/host/SymmetricMemory.h"

#include <openreg_ipc.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <torch/csrc/distributed/c10d/GroupRegistry.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "csrc/runtime/device/OpenRegFunctions.h"
#include "csrc/runtime/device/OpenRegGuard.h"
#include "csrc/runtime/device/OpenRegInit.h"
#include "csrc/runtime/memory/OpenRegDeviceAllocator.h"
#include "csrc/runtime/stream/StreamCapture.h"

namespace openreg {
namespace {

constexpr size_t kAlignment = 512;

// While the process ends, and in a forked child, the driver frees nothing.
bool may_free() {
  return !c10d::symmetric_memory::is_finalizing() && !is_in_bad_fork();
}

std::shared_ptr<void> owned(void* memory, orError_t (*release)(void*)) {
  return {memory, [release](void* ptr) {
            if (may_free()) {
              after_captures([release, ptr] { release(ptr); });
            }
          }};
}

// What a rank announces about its block.
struct Announcement {
  orIpcMemHandle_t memory;
  pid_t process;
  void* base;  // for ranks that are threads of one process
  size_t bytes;
  size_t pad_offset;
};

// Every rank passes one, and gets the announcements of all ranks.
std::vector<Announcement> exchange(const c10d::ProcessGroup& group, c10d::Store& store,
                                   const std::string& round, const Announcement& mine) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&mine);
  store.set(round + std::to_string(group.getRank()),
            std::vector<uint8_t>(bytes, bytes + sizeof mine));
  std::vector<Announcement> all(group.getSize());
  for (int rank = 0; rank < group.getSize(); ++rank) {
    const auto theirs = store.get(round + std::to_string(rank));  // waits
    TORCH_CHECK(theirs.size() == sizeof mine, "openreg: rank ", rank,
                " uses another layout of symmetric memory; install the same "
                "torch_openreg on all ranks");
    std::memcpy(static_cast<void*>(&all[rank]), theirs.data(), sizeof mine);
  }
  return all;
}

}  // namespace

// LITERALINCLUDE START: SYMMETRIC_BLOCK
SymmetricBlock::SymmetricBlock(size_t bytes, c10::DeviceIndex device)
    : bytes(bytes),
      pad_offset((bytes + kAlignment - 1) / kAlignment * kAlignment),
      pad_bytes(c10d::symmetric_memory::get_signal_pad_size()),
      device(device) {
  initialize();  // throws in a forked child
  const OpenRegGuard guard(device);
  void* start = nullptr;
  orError_t error = orMalloc(&start, pad_offset + pad_bytes);  // (1)
  if (error == orErrorMemoryAllocation) {
    OpenRegDeviceAllocator::get().emptyCache();
    error = orMalloc(&start, pad_offset + pad_bytes);
  }
  OPENREG_CHECK(error);
  memory = owned(start, orFree);
  base = static_cast<char*>(start);
  OPENREG_CHECK(orMemset(base + pad_offset, 0, pad_bytes));  // (2)
}
// LITERALINCLUDE END: SYMMETRIC_BLOCK

// LITERALINCLUDE START: SYMMETRIC_RENDEZVOUS
SymmetricPeers::SymmetricPeers(std::shared_ptr<SymmetricBlock> own,
                               const c10d::ProcessGroup& group, const std::string& key)
    : block(std::move(own)),
      rank(group.getRank()),
      size(group.getSize()),
      timeout(group.getStore()->getTimeout()) {
  c10d::PrefixStore store(key, group.getStore());
  Announcement mine{{}, getpid(), block->base, block->bytes, block->pad_offset};
  OPENREG_CHECK(orIpcGetMemHandle(&mine.memory, block->base));
  for (const Announcement& peer : exchange(group, store, "block", mine)) {  // (1)
    TORCH_CHECK(peer.bytes == mine.bytes && peer.pad_offset == mine.pad_offset,
                "openreg: symmetric memory has ", mine.bytes, " bytes on rank ", rank,
                " and ", peer.bytes,
                " bytes on another rank: allocate tensors of one "
                "size, in one order, on all ranks");
    void* base = peer.base;
    if (peer.process != getpid()) {
      OPENREG_CHECK(orIpcOpenMemHandle(&base, peer.memory));  // (2)
      opened_.push_back(owned(base, orIpcCloseMemHandle));
    }
    buffers.push_back(base);
    pads.push_back(static_cast<char*>(base) + peer.pad_offset);
  }
  // LITERALINCLUDE END: SYMMETRIC_RENDEZVOUS
  // LITERALINCLUDE START: SYMMETRIC_ADDRESSES
  const OpenRegGuard guard(block->device);
  const size_t half = size * sizeof(void*);
  void* lists = nullptr;
  OPENREG_CHECK(orMalloc(&lists, 2 * half));
  addresses = owned(lists, orFree);
  OPENREG_CHECK(orMemcpy(lists, buffers.data(), half, orMemcpyHostToDevice));
  OPENREG_CHECK(orMemcpy(static_cast<char*>(lists) + half, pads.data(), half,
                         orMemcpyHostToDevice));
  exchange(group, store, "opened", mine);  // (1)
  // LITERALINCLUDE END: SYMMETRIC_ADDRESSES
}

// -- what torch calls --

void** OpenRegSymmetricMemory::get_buffer_ptrs_dev() {
  return static_cast<void**>(peers_->addresses.get());
}

void** OpenRegSymmetricMemory::get_signal_pad_ptrs_dev() {
  return static_cast<void**>(peers_->addresses.get()) + peers_->size;
}

c10::Device OpenRegSymmetricMemory::get_device() {
  return {c10::DeviceType::PrivateUse1, peers_->block->device};
}

SignalPad OpenRegSymmetricMemory::signals(const char* name, int channel,
                                          size_t timeout_ms) const {
  const SymmetricPeers& peers = *peers_;
  const auto channels = peers.block->pad_bytes / (sizeof(uint32_t) * peers.size);
  TORCH_CHECK_VALUE(channel >= 0 && static_cast<size_t>(channel) < channels, name,
                    ": there is no channel ", channel, " among ", channels,
                    "; call set_signal_pad_size() before the allocation to have more");
  const auto timeout =
      timeout_ms == 0 ? peers.timeout : std::chrono::milliseconds(timeout_ms);
  return {name, peers.pads, peers.rank, peers.size, channel, timeout};
}

// LITERALINCLUDE START: SYMMETRIC_SIGNALS
void OpenRegSymmetricMemory::barrier(int channel, size_t timeout_ms) {
  constexpr const char* kName = "symm_mem::barrier";
  kernels::barrier(get_device(), signals(kName, channel, timeout_ms));  // (1)
}

void OpenRegSymmetricMemory::put_signal(int to, int channel, size_t timeout_ms) {
  constexpr const char* kName = "symm_mem::put_signal";
  TORCH_CHECK_INDEX(to >= 0 && to < peers_->size, kName, ": there is no rank ", to,
                    " among ", peers_->size);
  kernels::put_signal(get_device(), signals(kName, channel, timeout_ms), to);
}

void OpenRegSymmetricMemory::wait_signal(int from, int channel, size_t timeout_ms) {
  constexpr const char* kName = "symm_mem::wait_signal";
  TORCH_CHECK_INDEX(from >= 0 && from < peers_->size, kName, ": there is no rank ",
                    from, " among ", peers_->size);
  kernels::wait_signal(get_device(), signals(kName, channel, timeout_ms), from);
}
// LITERALINCLUDE END: SYMMETRIC_SIGNALS

// -- the allocator --

OpenRegSymmetricAllocator::Entry* OpenRegSymmetricAllocator::find(const void* ptr) {
  const auto* address = static_cast<const char*>(ptr);
  const auto after = entries_.upper_bound(address);
  if (after == entries_.begin()) {
    return nullptr;
  }
  Entry& entry = std::prev(after)->second;
  return address < entry.block->base + std::max<size_t>(entry.block->bytes, 1)
             ? &entry
             : nullptr;
}

void* OpenRegSymmetricAllocator::alloc(size_t size, int device, const Group& group) {
  const auto index =
      device < 0 ? current_device() : static_cast<c10::DeviceIndex>(device);
  auto block = std::make_shared<SymmetricBlock>(size, index);
  const std::lock_guard lock(mutex_);
  char* const base = block->base;
  entries_.emplace(base, Entry{std::move(block), group, {}});
  return base;
}

void OpenRegSymmetricAllocator::free(void* ptr) {
  std::unique_lock lock(mutex_);
  auto entry = entries_.extract(static_cast<const char*>(ptr));
  lock.unlock();  // the destructor waits for the device
}

size_t OpenRegSymmetricAllocator::get_alloc_size(void* ptr) {
  const std::lock_guard lock(mutex_);
  const Entry* entry = find(ptr);
  TORCH_CHECK_VALUE(entry != nullptr, "openreg: ", ptr,
                    " is not symmetric memory; allocate it with "
                    "torch.distributed._symmetric_memory.empty()");
  return entry->block->bytes;
}

bool OpenRegSymmetricAllocator::has_allocation(void* ptr) {
  const std::lock_guard lock(mutex_);
  return find(ptr) != nullptr;
}

c10::intrusive_ptr<c10d::symmetric_memory::SymmetricMemory>
OpenRegSymmetricAllocator::rendezvous(void* ptr, const Group& group) {
  std::unique_lock lock(mutex_);
  Entry* entry = find(ptr);
  if (entry == nullptr) {
    return nullptr;
  }
  const Group name = group ? group : entry->group;
  TORCH_CHECK_VALUE(
      name,
      "openreg: rendezvous() of symmetric memory needs a group; pass the name of one");
  auto block = entry->block;
  auto peers = entry->peers[*name];
  if (!peers) {
    const std::string key =
        c10::str("openreg/symmetric/", *name, "/", rendezvous_[*name]++);
    lock.unlock();  // other threads may allocate while this one waits for the ranks
    peers = std::make_shared<SymmetricPeers>(block, *c10d::resolve_process_group(*name),
                                             key);
    lock.lock();
    if ((entry = find(ptr)) != nullptr) {
      entry->peers[*name] = peers;
    }
  }
  const auto offset = static_cast<size_t>(static_cast<char*>(ptr) - block->base);
  return c10::make_intrusive<OpenRegSymmetricMemory>(std::move(peers), offset);
}

// LITERALINCLUDE START: SYMMETRIC_REGISTER
namespace {
[[maybe_unused]] const bool registered_symmetric_memory = [] {
  const auto allocator = c10::make_intrusive<OpenRegSymmetricAllocator>();
  c10d::symmetric_memory::register_availability(allocator->name(), allocator);
  c10d::symmetric_memory::register_allocator(c10::DeviceType::PrivateUse1, allocator);
  return true;
}();
}  // namespace
// LITERALINCLUDE END: SYMMETRIC_REGISTER

}  // namespace openreg
