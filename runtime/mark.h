// Names a stretch of a step for LibTorch's profiler, as record_function() does in Python.
#pragma once

#include <ATen/record_function.h>

#include <cstdint>
#include <string>

namespace stowage {

// For its lifetime. Costs some nanoseconds while nothing is recorded.
class Mark {
 public:
  // "block." and 3 give "block.3".
  Mark(const char* name, std::uint64_t number) {
    if (record_.isActive()) record_.before(name + std::to_string(number));
  }
  explicit Mark(const char* name) {
    if (record_.isActive()) record_.before(name);
  }
  Mark(const Mark&) = delete;

 private:
  at::RecordFunction record_{at::RecordScope::USER_SCOPE};
};

}  // namespace stowage
