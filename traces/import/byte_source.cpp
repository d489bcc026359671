#include "traces/import/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "traces/error.h"

namespace stowage {
namespace {

class FileBytes : public ByteSource {
 public:
  explicit FileBytes(const std::string& file) : file_(file), descriptor_(open_for_reading(file)) {
    struct stat about {};
    if (fstat(descriptor_, &about) == 0 && S_ISDIR(about.st_mode)) {
      close();
      throw SystemError(file, "cannot read: is a directory");
    }
  }
  ~FileBytes() override { close(); }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  std::size_t read(std::span<char> room) override {
    for (;;) {
      const ssize_t got = ::read(descriptor_, room.data(), room.size());
      if (got >= 0) {
        taken_ += static_cast<std::uint64_t>(got);
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR) throw SystemError(file_, std::string("cannot read: ") + std::strerror(errno));
    }
  }
  std::uint64_t taken() const override { return taken_; }

 private:
  static int open_for_reading(const std::string& file) {
    if (file == "-") return STDIN_FILENO;
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) throw SystemError(file, std::string("cannot read: ") + std::strerror(errno));
    return descriptor;
  }
  void close() {
    if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
  }

  std::string file_;
  int descriptor_;
  std::uint64_t taken_ = 0;
};

class MemoryBytes : public ByteSource {
 public:
  explicit MemoryBytes(std::span<const char> bytes) : rest_(bytes) {}

  std::size_t read(std::span<char> room) override {
    const std::size_t count = std::min(room.size(), rest_.size());
    std::copy_n(rest_.begin(), count, room.begin());
    rest_ = rest_.subspan(count);
    taken_ += count;
    return count;
  }
  std::uint64_t taken() const override { return taken_; }

 private:
  std::span<const char> rest_;
  std::uint64_t taken_ = 0;
};

// Gives back the bytes that were read ahead to see what the source holds.
class Unread : public ByteSource {
 public:
  Unread(std::vector<char> head, std::unique_ptr<ByteSource> rest)
      : head_(std::move(head)), rest_(std::move(rest)) {}

  std::size_t read(std::span<char> room) override {
    if (given_ == head_.size()) return rest_->read(room);
    const std::size_t count = std::min(room.size(), head_.size() - given_);
    std::copy_n(head_.begin() + static_cast<std::ptrdiff_t>(given_), count, room.begin());
    given_ += count;
    return count;
  }
  std::uint64_t taken() const override { return rest_->taken(); }

 private:
  std::vector<char> head_;
  std::size_t given_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

class GzipBytes : public ByteSource {
 public:
  explicit GzipBytes(std::unique_ptr<ByteSource> packed) : packed_(std::move(packed)), buffer_(1 << 16) {
    if (inflateInit2(&stream_, gzip_only) != Z_OK) throw SystemError("cannot unpack", "zlib does not start");
  }
  ~GzipBytes() override { inflateEnd(&stream_); }
  GzipBytes(const GzipBytes&) = delete;
  GzipBytes& operator=(const GzipBytes&) = delete;

  std::size_t read(std::span<char> room) override {
    stream_.next_out = reinterpret_cast<Bytef*>(room.data());
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(room.size(), 1U << 30));
    const uInt asked = stream_.avail_out;
    while (!ended_ && stream_.avail_out == asked) advance();
    return asked - stream_.avail_out;
  }
  bool cut_short() const override { return cut_short_; }
  std::uint64_t taken() const override { return packed_->taken(); }

 private:
  static constexpr int gzip_only = 16 + MAX_WBITS;

  void advance() {
    if (stream_.avail_in == 0 && !refill()) {
      ended_ = true;
      cut_short_ = inside_member_;
      return;
    }
    if (!inside_member_ && *stream_.next_in != 0x1f) {  // padding or other bytes after the last member
      ended_ = true;
      return;
    }
    inside_member_ = true;
    const int state = inflate(&stream_, Z_NO_FLUSH);
    if (state == Z_STREAM_END) {
      inside_member_ = false;
      inflateReset(&stream_);
    } else if (state != Z_OK && state != Z_BUF_ERROR) {
      ended_ = cut_short_ = true;
    }
  }

  bool refill() {
    stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
    stream_.avail_in = static_cast<uInt>(packed_->read(buffer_));
    return stream_.avail_in > 0;
  }

  std::unique_ptr<ByteSource> packed_;
  std::vector<char> buffer_;
  z_stream stream_{};
  bool inside_member_ = true, ended_ = false, cut_short_ = false;
};

std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> source) {
  std::vector<char> head(2);
  std::size_t filled = 0;
  while (filled < head.size()) {
    const std::size_t got = source->read(std::span(head).subspan(filled));
    if (got == 0) break;
    filled += got;
  }
  head.resize(filled);
  const bool gzip = filled == 2 && head[0] == '\x1f' && head[1] == '\x8b';
  auto whole = std::make_unique<Unread>(std::move(head), std::move(source));
  if (gzip) return std::make_unique<GzipBytes>(std::move(whole));
  return whole;
}

}  // namespace

std::unique_ptr<ByteSource> open_bytes(const std::string& file) {
  return unpacked(std::make_unique<FileBytes>(file));
}

std::unique_ptr<ByteSource> open_bytes(std::span<const char> bytes) {
  return unpacked(std::make_unique<MemoryBytes>(bytes));
}

}  // namespace stowage
