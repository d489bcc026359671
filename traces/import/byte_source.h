// The bytes of a recording in order, wherever they come from: a file, a pipe, packed or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace stowage {

// Bytes that can be read once, from front to back.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills a part of `room`, which is not empty, and returns how much; 0 at the end only. Throws SystemError
  // where the system fails.
  virtual std::size_t read(std::span<char> room) = 0;
  // Whether what was read so far ended before its own format said so (a gzip file cut short).
  virtual bool cut_short() const { return false; }
  // How many bytes were taken from the file or pipe itself, packed as they are.
  virtual std::uint64_t taken() const = 0;
};

// Opens a file or a pipe; "-" is the standard input. Gzip is known by its content and unpacked, any number of
// members one after another; zeros or other bytes after the last member are ignored, as gzip does. Constant
// memory. Throws SystemError where it cannot be opened.
std::unique_ptr<ByteSource> open_bytes(const std::string& file);

// The same over bytes in memory, which must outlive the source.
std::unique_ptr<ByteSource> open_bytes(std::span<const char> bytes);

}  // namespace stowage
