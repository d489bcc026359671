// Host memory that copies are quick from and to. Not counted on the device; buffers are used again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "traces/machine.h"
#include "traces/units.h"

namespace stowage {

class PinnedPool;

// One buffer, returned to its pool when destroyed. The pool must outlive it.
class HostBuffer {
 public:
  HostBuffer() = default;
  HostBuffer(HostBuffer&& other) noexcept;
  HostBuffer& operator=(HostBuffer&& other) noexcept;
  ~HostBuffer();

  std::byte* data() const { return data_; }
  Bytes bytes() const { return bytes_; }

 private:
  friend class PinnedPool;
  HostBuffer(PinnedPool* pool, std::byte* data, Bytes bytes) : pool_(pool), data_(data), bytes_(bytes) {}

  PinnedPool* pool_ = nullptr;
  std::byte* data_ = nullptr;
  Bytes bytes_;
};

// How the system's memory is taken and given back; plain memory, or memory known to a driver.
struct HostMemorySource {
  std::function<void*(std::size_t)> take;  // nullptr where there is none; aligned to 64 bytes
  std::function<void(void*)> give_back;
};

class PinnedPool {
 public:
  struct Counts {
    Bytes live, live_peak;  // asked for and not returned
    Bytes resident;         // of the system, rounded
    std::int64_t reused = 0, made = 0;
  };

  // `limit`: the most that may be resident; absent: as much as the system has.
  PinnedPool(HostMemorySource source, PinnedRounding rounding, std::optional<Bytes> limit);
  ~PinnedPool();
  PinnedPool(const PinnedPool&) = delete;

  // An unused buffer of the same rounded size, or a new one; unused ones of other sizes go first where the
  // limit is near. Throws MemoryRefused. Any thread.
  HostBuffer acquire(Bytes bytes);

  Counts counts() const;
  // live_peak starts anew from what is live now.
  void reset_peak();
  void release_unused();

 private:
  friend class HostBuffer;
  Bytes rounded(Bytes bytes) const;
  std::byte* make(Bytes size);
  void drop_unused();
  void give_back(std::byte* data, Bytes bytes);

  const HostMemorySource source_;
  const PinnedRounding rounding_;
  const std::optional<Bytes> limit_;
  mutable std::mutex mutex_;
  std::map<Bytes, std::vector<std::byte*>> unused_;  // by rounded size
  Counts counts_;
};

}  // namespace stowage
