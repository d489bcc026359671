// Host memory for copies, live: takes and gives back real buffers as PinnedBuckets, the rule shared with the
// simulator, says. What it refuses to pin is pageable memory, and copies from and to that are slow.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "plan/pinned_buckets.h"
#include "plan/program.h"
#include "traces/machine.h"
#include "traces/units.h"

namespace stowage {

class PinnedPool;

// One buffer, returned when destroyed. The pool must outlive it.
class HostBuffer {
 public:
  HostBuffer() = default;
  HostBuffer(HostBuffer&& other) noexcept;
  HostBuffer& operator=(HostBuffer&& other) noexcept;
  ~HostBuffer();

  std::byte* data() const { return data_; }
  Bytes bytes() const { return bytes_; }
  bool is_pageable() const { return owner_ == Owner::system; }
  bool is_new() const { return is_new_; }  // pinned for this request
  // The copy that reads it last is issued.
  void mark_pending() const;

 private:
  friend class PinnedPool;
  enum class Owner : std::uint8_t { fixed, pool, system };
  HostBuffer(PinnedPool* pool, std::byte* data, Bytes bytes, Owner owner, bool is_new)
      : pool_(pool), data_(data), bytes_(bytes), owner_(owner), is_new_(is_new) {}

  PinnedPool* pool_ = nullptr;
  std::byte* data_ = nullptr;
  Bytes bytes_;
  Owner owner_ = Owner::fixed;
  bool is_new_ = false;
};

// Where host memory comes from and goes back to. Taking takes the time that pinning takes.
struct HostMemorySource {
  std::function<void*(std::size_t)> take;  // nullptr where there is none; aligned to 64 bytes
  std::function<void(void*)> give_back;
};

// Of the system, aligned as every buffer is; nullptr where there is none. std::free() gives it back.
void* aligned_memory(std::size_t bytes);
// The same as a source.
HostMemorySource system_memory();

// Any thread.
class PinnedPool {
 public:
  // What is not pinned comes from `pageable`.
  PinnedPool(HostMemorySource pinned, const HostMemory& host, HostMemorySource pageable = system_memory());
  ~PinnedPool();
  PinnedPool(const PinnedPool&) = delete;

  // A step begins, under these caps and the machine's limit. Throws MemoryRefused where what is pinned for
  // good passes the caps by itself.
  void begin_step(const PinnedCaps& caps);
  // Pinned, beside the pool, until it is destroyed. Throws MemoryRefused.
  HostBuffer pin(Bytes bytes);
  // As the rule has it. Throws MemoryRefused where the system has no memory at all.
  HostBuffer check_out(Bytes bytes);

  // Memory that no buffer is made of any more goes back to the system, which nothing else makes happen.
  void flush();
  // As if it had just been made: no buffers, no history. Throws DefectError while a buffer of it is in use.
  void start_anew();

  PinnedReport report() const;
  // Asked for and not returned, pinned or not.
  Bytes live() const;

 private:
  friend class HostBuffer;
  std::byte* take(Bytes size);
  std::byte* take_unused(Bytes size);
  HostBuffer lend(std::byte* data, Bytes bytes, HostBuffer::Owner owner, bool is_new);
  void give_back(const HostBuffer& buffer);
  void drop_unused();

  const HostMemorySource source_, pageable_;
  const HostMemory host_;
  mutable std::mutex mutex_;
  std::optional<PinnedBuckets> books_;               // never absent
  std::map<Bytes, std::vector<std::byte*>> unused_;  // idle and cached, by rounded size
  Bytes fixed_, live_;                               // rounded; as asked for
};

}  // namespace stowage
