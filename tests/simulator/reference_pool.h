// The pinned pool of one step, as the reference tells it. A step asks for all of its host buffers before the
// first of them returns, so that nothing is ever used again: what is pinned stays so, and only its bucket may
// have to go.
#pragma once

#include <cstdint>
#include <map>

#include "plan/settings.h"
#include "traces/machine.h"

namespace stowage::reference {

class Pool {
 public:
  Pool(const HostMemory& host, const TransferSettings& transfer) : host_(host), transfer_(transfer) {}

  static std::int64_t rounded(std::int64_t bytes, PinnedRounding rounding);

  // Pinned before the step and throughout.
  void keep(std::int64_t bytes) { pinned_ += size(bytes); }
  // All that is pinned; nothing is ever given back to the system.
  std::int64_t held() const { return pinned_; }
  // Whether a buffer of so many bytes is pinned.
  bool ask(std::int64_t bytes);
  // What that took.
  std::int64_t pinning(std::int64_t bytes) const { return host_.pinning.time_for({size(bytes)}).value; }
  std::int64_t size(std::int64_t bytes) const { return rounded(bytes, host_.pinned_rounding); }

 private:
  struct Bucket {
    std::int64_t accesses = 0, granted = 0, last = 0;
    bool resident = false, used = false;
  };

  static bool less(const Bucket& a, const Bucket& b);
  bool admit(Bucket& bucket);

  HostMemory host_;
  TransferSettings transfer_;
  std::map<std::int64_t, Bucket> buckets_;  // by size
  std::int64_t pinned_ = 0, clock_ = 0;
};

}  // namespace stowage::reference
