// Memory that the kernels of every rank of a group read and write; see
// docs/modules/symmetric-memory.md.
#pragma once

#include <c10/core/Device.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/symm_mem/SymmetricMemory.hpp>
#include <utility>
#include <vector>

#include "csrc/kernels/SymmetricMemory.h"

namespace openreg {

// Memory of this rank: what the program requested, and a signal pad behind it.
struct SymmetricBlock {
  SymmetricBlock(size_t bytes, c10::DeviceIndex device);

  std::shared_ptr<void> memory;  // freeing waits for the device
  char* base = nullptr;
  size_t bytes;
  size_t pad_offset;
  size_t pad_bytes;
  c10::DeviceIndex device;
};

// The same block on every rank of a group, as this rank reaches them.
struct SymmetricPeers {
  SymmetricPeers(std::shared_ptr<SymmetricBlock> block, const c10d::ProcessGroup& group,
                 const std::string& key);

  std::shared_ptr<SymmetricBlock> block;
  int rank, size;
  std::chrono::milliseconds timeout;  // where a call names none
  std::vector<void*> buffers, pads;   // by rank
  std::shared_ptr<void> addresses;    // both lists, in device memory, for kernels

 private:
  std::vector<std::shared_ptr<void>> opened_;  // closing waits for all devices
};

// Follows torch/csrc/distributed/c10d/symm_mem/SymmetricMemory.hpp.
class OpenRegSymmetricMemory final : public c10d::symmetric_memory::SymmetricMemory {
 public:
  OpenRegSymmetricMemory(std::shared_ptr<SymmetricPeers> peers, size_t offset)
      : peers_(std::move(peers)), offset_(offset) {}

  std::vector<void*> get_buffer_ptrs() override { return peers_->buffers; }
  std::vector<void*> get_signal_pad_ptrs() override { return peers_->pads; }
  void** get_buffer_ptrs_dev() override;
  void** get_signal_pad_ptrs_dev() override;
  size_t get_buffer_size() override { return peers_->block->bytes; }
  size_t get_offset() override { return offset_; }
  bool has_multicast_support() override { return false; }
  void* get_multicast_ptr() override { return nullptr; }

  // Each enqueues a kernel on the current stream. 0 milliseconds: the timeout of the
  // group's store.
  void barrier(int channel, size_t timeout_ms) override;
  void put_signal(int to, int channel, size_t timeout_ms) override;
  void wait_signal(int from, int channel, size_t timeout_ms) override;

  int get_rank() override { return peers_->rank; }
  int get_world_size() override { return peers_->size; }
  c10::Device get_device() override;
  bool world_within_direct_access() override { return true; }

  // What a kernel needs to wait for the other ranks in `channel`.
  SignalPad signals(const char* name, int channel, size_t timeout_ms = 0) const;

 private:
  std::shared_ptr<SymmetricPeers> peers_;
  size_t offset_;  // of the tensor in the block
};

// Thread safe.
class OpenRegSymmetricAllocator final
    : public c10d::symmetric_memory::SymmetricMemoryAllocator {
 public:
  using Group = std::optional<std::string>;

  void* alloc(size_t size, int device, const Group& group) override;
  void free(void* ptr) override;
  size_t get_alloc_size(void* ptr) override;
  // Null if `ptr` is in no block. Waits for the other ranks of the group.
  c10::intrusive_ptr<c10d::symmetric_memory::SymmetricMemory> rendezvous(
      void* ptr, const Group& group) override;
  bool has_multicast_support(int) override { return false; }
  bool has_allocation(void* ptr) override;
  c10::DeviceType supported_device_type() override {
    return c10::DeviceType::PrivateUse1;
  }
  std::string name() override { return "OPENREG"; }

 private:
  struct Entry {
    std::shared_ptr<SymmetricBlock> block;
    Group group;  // where rendezvous() names none
    std::map<std::string, std::shared_ptr<SymmetricPeers>> peers;
  };
  Entry* find(const void* ptr);

  std::mutex mutex_;
  std::map<const char*, Entry> entries_;  // by address
  std::map<std::string, int> rendezvous_;
};

}  // namespace openreg
