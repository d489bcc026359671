// Streams the elements of one long array: that under a certain key of a JSON object, or the document itself.
//
//   {"schemaVersion": 1, ..., "traceEvents": [ {...}, {...}, ... ], "traceName": "..."}
//    member                   element   element                   member
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "traces/import/byte_window.h"
#include "traces/import/json_scan.h"
#include "traces/import/repairs.h"

namespace stowage {

// Constant memory whatever the size: a window of a few times the largest element, at most 64 MiB; and time
// linear in the size, whatever the content. An element that makes no sense is read a second time with guesses
// about quotes; if that fails too it is dropped, and reading goes on at the next thing that looks like one.
// Throws only what the source throws.
class JsonStream {
 public:
  // Reads one value at the scan; false where the scan failed. May
  // be called more than once for the same value.
  using ReadElement = std::function<bool(JsonScan&)>;
  using ReadMember = std::function<bool(std::string_view key, JsonScan&)>;

  struct Shape {
    std::string_view array;  // the key of the array
    std::span<const std::string_view>
        first_keys;  // one of which each element begins with; none: they are arrays
    ReadElement element;
    ReadMember member;
  };

  // Repairs that belong to no element are added to `repairs`. Both references must outlive the stream.
  JsonStream(ByteWindow& window, Repairs& repairs, Shape shape);

  // Reads on until an element was read; false at the end of the document.
  bool next();
  // Where the element that was read last begins, and the gravest repair that it took.
  std::uint64_t offset() const { return offset_; }
  std::optional<Repair> repair() const { return repair_; }

 private:
  enum class Stage : std::uint8_t { start, members, elements, bare_elements, done };
  enum class Reading : std::uint8_t { read, oversized, incomplete, broken };

  char peek();
  void start();
  void step_members();
  bool step_elements();
  Reading attempt(const ReadElement& read);
  Reading attempt(const ReadElement& read, JsonScan::Mode mode);
  bool runs_on(const char* stop) const;
  void recover(Reading reading);
  bool seek(bool (JsonStream::*here)(const char*) const);
  bool element_starts(const char* at) const;
  bool array_starts(const char* at) const;
  void finish();
  bool ends_closed() const;

  ByteWindow* window_;
  Repairs* repairs_;
  Shape shape_;
  const char* at_;
  const char* reached_ = nullptr;  // by the attempts at the current element
  Stage stage_ = Stage::start;
  std::uint64_t offset_ = 0;
  std::optional<Repair> repair_;
  std::uint64_t wasted_ = 0;  // bytes that were looked at more than once
};

}  // namespace stowage
