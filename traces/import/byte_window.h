// A sliding view of a byte source, for readers that look at a piece at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "traces/import/byte_source.h"

namespace stowage {

// Holds a stretch of the source in one piece. At least `padding` zero bytes lie behind it, so that a scan may
// read a whole word past the end and stops at a zero.
//
//   source  ........[ stretch ]0000....
//                    ^begin    ^end
class ByteWindow {
 public:
  static constexpr std::size_t padding = 16;

  explicit ByteWindow(ByteSource& source, std::size_t size = std::size_t{1} << 20);

  const char* begin() const { return buffer_.data(); }
  const char* end() const { return buffer_.data() + filled_; }
  // Where in the source `position` lies.
  std::uint64_t offset_of(const char* position) const {
    return base_ + static_cast<std::uint64_t>(position - begin());
  }
  // How many bytes of the file itself, packed as they are, brought this in.
  std::uint64_t taken() const { return source_->taken(); }
  // Whether the source has no byte beyond end().
  bool at_end() const { return at_end_; }

  // Forgets what lies before `position`, brings in more behind, and moves `position` to where its byte lies
  // now. The window grows where all of it is still needed. False, with nothing changed, at the end of the
  // source. Cost: amortised, one copy of each byte.
  bool more(const char*& position);

 private:
  ByteSource* source_;
  std::vector<char> buffer_;
  std::size_t filled_ = 0;
  std::uint64_t base_ = 0;
  bool at_end_ = false;
};

}  // namespace stowage
