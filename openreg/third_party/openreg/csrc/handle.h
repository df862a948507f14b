// Handles: what orStream_t, orEvent_t, ... are. See docs/start/architecture.md.
//
// A handle is not an address but a number made of a slot, the slot's generation, and a
// tag for the kind. Destroying an object raises the generation of its slot, so a stale,
// foreign or invented handle is recognized by comparing numbers, without touching
// memory that may be gone. Slots are never returned to the system; the object in a slot
// is destroyed when its handle is invalid and its last Ref is released.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace openreg::driver {

template <class T>
class Table;

template <class T>
struct Slot {
  // Generation in the upper half, number of owners in the lower. The live handle is an
  // owner.
  std::atomic<uint64_t> state = 0;
  uint32_t index = 0;
  Slot* nextFree = nullptr;
  alignas(T) std::byte storage[sizeof(T)];

  T* object() { return std::launder(reinterpret_cast<T*>(storage)); }
};

// Shared ownership of the object in a slot.
template <class T>
class Ref {
 public:
  Ref() = default;
  // Relaxed: `other` is an owner already, so the object stays valid.
  Ref(const Ref& other) : slot_(other.slot_) {
    if (slot_) slot_->state.fetch_add(1, std::memory_order_relaxed);
  }
  Ref(Ref&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(slot_, other.slot_);
    return *this;
  }
  ~Ref();

  T* get() const { return slot_ ? slot_->object() : nullptr; }
  T* operator->() const { return slot_->object(); }
  T& operator*() const { return *slot_->object(); }
  explicit operator bool() const { return slot_ != nullptr; }

 private:
  friend class Table<T>;
  explicit Ref(Slot<T>* owned) : slot_(owned) {}
  Slot<T>* slot_ = nullptr;
};

// All objects of one kind. T::kTag identifies the kind.
template <class T>
class Table {
 public:
  using Handle = typename T::Handle;

  // A null Ref when there are too many live objects.
  template <class... Args>
  Ref<T> create(Handle* handle, Args&&... args) {
    Slot<T>* slot = takeFree();
    if (slot == nullptr) return {};
    try {
      new (slot->storage) T(std::forward<Args>(args)...);
    } catch (...) {
      giveFree(slot);
      throw;
    }
    // Relaxed: the slot came from takeFree() under its lock, and a state without
    // owners is changed by no other thread.
    uint64_t generation = slot->state.load(std::memory_order_relaxed) >> 32;
    *handle = encode(slot->index, generation);
    slot->state.store(generation << 32 | 2, std::memory_order_release);
    return Ref<T>(slot);
  }

  // The live object behind a handle, or a null Ref.
  Ref<T> find(Handle handle) {
    Slot<T>* slot = slotOf(handle);
    if (slot == nullptr) return {};
    uint64_t state = slot->state.load(std::memory_order_acquire);
    do {
      if (!matches(state, handle)) return {};
    } while (!slot->state.compare_exchange_weak(state, state + 1,
                                                std::memory_order_acquire));
    return Ref<T>(slot);
  }

  // Invalidates the handle. Returns its ownership as a Ref.
  Ref<T> remove(Handle handle) {
    Slot<T>* slot = slotOf(handle);
    if (slot == nullptr) return {};
    uint64_t state = slot->state.load(std::memory_order_acquire);
    do {
      if (!matches(state, handle)) return {};
    } while (!slot->state.compare_exchange_weak(state, state + (1ULL << 32),
                                                std::memory_order_acq_rel));
    return Ref<T>(slot);
  }

  // A new Ref to `object`, which lives in this table; null when its last owner has
  // released it, which an observer called by ~T may see.
  static Ref<T> refTo(T* object) {
    auto* slot = reinterpret_cast<Slot<T>*>(reinterpret_cast<std::byte*>(object) -
                                            offsetof(Slot<T>, storage));
    uint64_t state = slot->state.load(std::memory_order_acquire);
    do {
      if (static_cast<uint32_t>(state) == 0) return {};
    } while (!slot->state.compare_exchange_weak(state, state + 1,
                                                std::memory_order_acquire));
    return Ref<T>(slot);
  }

  void release(Slot<T>* slot) {
    uint64_t before = slot->state.fetch_sub(1, std::memory_order_acq_rel);
    if (static_cast<uint32_t>(before) != 1) return;
    slot->object()->~T();
    giveFree(slot);
  }

 private:
  static constexpr uint32_t kChunk = 1024;  // slots allocated together
  static constexpr uint32_t kChunks = 1024;
  static constexpr uint64_t kGenerationMask = (1ULL << 28) - 1;

  // 0 ttttttt  gggg...g (28)  iiii...i (24)  0000: non-null, and aligned as a pointer
  // is.
  static Handle encode(uint64_t index, uint64_t generation) {
    return reinterpret_cast<Handle>(T::kTag << 56 |
                                    (generation & kGenerationMask) << 28 | index << 4);
  }

  static bool matches(uint64_t state, Handle handle) {
    uint64_t generation = reinterpret_cast<uint64_t>(handle) >> 28 & kGenerationMask;
    return (state >> 32 & kGenerationMask) == generation &&
           static_cast<uint32_t>(state) != 0;
  }

  Slot<T>* slotOf(Handle handle) {
    auto bits = reinterpret_cast<uint64_t>(handle);
    uint32_t index = bits >> 4 & 0xffffff;
    if (bits >> 56 != T::kTag || (bits & 15) != 0) return nullptr;
    if (index >= count_.load(std::memory_order_acquire)) return nullptr;
    return &chunks_[index / kChunk][index % kChunk];
  }

  Slot<T>* takeFree() {
    std::lock_guard lock(mutex_);
    if (free_ != nullptr) return std::exchange(free_, free_->nextFree);
    // Relaxed: count_ is set under mutex_.
    uint32_t index = count_.load(std::memory_order_relaxed);
    if (index == kChunk * kChunks) return nullptr;
    auto& chunk = chunks_[index / kChunk];
    if (chunk == nullptr) chunk = new Slot<T>[kChunk];
    Slot<T>* slot = &chunk[index % kChunk];
    slot->index = index;
    count_.store(index + 1, std::memory_order_release);
    return slot;
  }

  void giveFree(Slot<T>* slot) {
    std::lock_guard lock(mutex_);
    slot->nextFree = free_;
    free_ = slot;
  }

  std::mutex mutex_;
  std::atomic<uint32_t> count_ = 0;
  Slot<T>* free_ = nullptr;
  Slot<T>* chunks_[kChunks] = {};
};

// Trivially destructible, so that it is still there while the process exits.
template <class T>
inline constinit Table<T> table;

template <class T>
Ref<T>::~Ref() {
  if (slot_) table<T>.release(slot_);
}

}  // namespace openreg::driver
