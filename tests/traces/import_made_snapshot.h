// Memory snapshots made by hand, entry by entry.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tests/traces/import_made_pickle.h"
#include "traces/import/import.h"

namespace stowage::tests {

inline std::string pickled_frame(const std::string& function, int line) {
  return pickled_dictionary(
      {{"name", pickled(function)}, {"filename", pickled("model.py")}, {"line", pickled(line)}});
}

// A snapshot made entry by entry; each comes a microsecond after the one before.
class MadeSnapshot {
 public:
  // The stack: functions "forward" at these lines, innermost first, within a training script.
  MadeSnapshot& allocate(std::int64_t address, std::int64_t bytes, const std::vector<int>& lines = {}) {
    std::vector<std::string> frames = {pickled_frame("malloc", 1)};
    for (const int line : lines) {
      frames.push_back(pickled_frame("forward", line));
      frames.push_back(pickled_frame("_call_impl", 1790));
    }
    frames.push_back(pickled_frame("<module>", 3));
    return entry("alloc", address, bytes, pickled_list(frames));
  }
  MadeSnapshot& free(std::int64_t address, std::int64_t bytes) {
    entry("free_requested", address, bytes, pickled_list({}));
    --at_;
    return entry("free_completed", address, bytes, pickled_list({}));
  }
  MadeSnapshot& entry(const std::string& action, std::int64_t address, std::int64_t bytes,
                      const std::string& frames) {
    entries_.push_back(pickled_dictionary({{"action", pickled(action)},
                                           {"addr", pickled(address)},
                                           {"size", pickled(bytes)},
                                           {"stream", pickled(0)},
                                           {"time_us", pickled(at_++)},
                                           {"frames", frames}}));
    return *this;
  }
  MadeSnapshot& wait(std::int64_t micros) {
    at_ += micros;
    return *this;
  }
  // The next entry is of this microsecond.
  MadeSnapshot& at(std::int64_t micros) {
    at_ = micros;
    return *this;
  }
  MadeSnapshot& block(std::int64_t bytes, const std::string& state) {
    blocks_.push_back(pickled_dictionary({{"size", pickled(bytes)}, {"state", pickled(state)}}));
    held_ += bytes;
    return *this;
  }

  std::string bytes() const {
    const std::string segment = pickled_dictionary({{"device", pickled(0)},
                                                    {"segment_type", pickled("large")},
                                                    {"total_size", pickled(held_)},
                                                    {"blocks", pickled_list(blocks_)}});
    return pickle_of(
        pickled_dictionary({{"segments", pickled_list({segment})},
                            {"device_traces", pickled_list({pickled_list(entries_), pickled_list({})})}}));
  }

  ImportReport import(const ImportOptions& options = {}) const {
    const std::string whole = bytes();
    return import_recording(*open_bytes(std::span(whole)), "made.pickle", options);
  }

 private:
  std::int64_t at_ = 1000, held_ = 0;
  std::vector<std::string> entries_, blocks_;
};

}  // namespace stowage::tests
