#include "traces/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "traces/error.h"

namespace stowage {
namespace {

// An open file that closes itself; close() reports what only closing can find out.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;

  int get() const { return value_; }
  bool close() { return ::close(std::exchange(value_, -1)) == 0; }

 private:
  int value_;
};

// Removes the file unless it was kept.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string name) : name_(std::move(name)) {}
  ~TemporaryFile() {
    if (!kept_) ::unlink(name_.c_str());
  }
  void keep() { kept_ = true; }

 private:
  std::string name_;
  bool kept_ = false;
};

[[noreturn]] void fail(const std::string& file, const char* verb) {
  throw SystemError(file, std::string("cannot ") + verb + ": " + std::strerror(errno));
}

void write_all(int descriptor, const std::string& content, const std::string& file) {
  for (std::size_t done = 0; done < content.size();) {
    const ssize_t count = ::write(descriptor, content.data() + done, content.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(file, "write");
    done += static_cast<std::size_t>(count);
  }
}

// Devices and pipes cannot be replaced by renaming: they are written as they are.
void write_in_place(const std::string& file, const std::string& content) {
  Descriptor out(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (out.get() < 0) fail(file, "write");
  write_all(out.get(), content, file);
  if (!out.close()) fail(file, "write");
}

mode_t usual_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

void replace(const std::string& file, const std::string& content) {
  std::string name = file + ".XXXXXX";
  Descriptor out(::mkostemp(name.data(), O_CLOEXEC));
  if (out.get() < 0) fail(file, "write");
  TemporaryFile temporary(name);
  write_all(out.get(), content, file);
  if (::fchmod(out.get(), usual_mode()) != 0 || ::fsync(out.get()) != 0 || !out.close()) fail(file, "write");
  if (::rename(name.c_str(), file.c_str()) != 0) fail(file, "write");
  temporary.keep();
}

}  // namespace

std::string read_file(const std::string& file) {
  Descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (in.get() < 0) fail(file, "read");
  std::string content;
  char piece[1 << 16];
  for (;;) {
    const ssize_t count = ::read(in.get(), piece, sizeof piece);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(file, "read");
    if (count == 0) return content;
    content.append(piece, static_cast<std::size_t>(count));
  }
}

void write_file(const std::string& file, const std::string& content) {
  std::error_code ignored;
  const std::filesystem::path target = std::filesystem::canonical(file, ignored);
  const std::string name = target.empty() ? file : target.string();  // through a symbolic link, not over it
  struct stat about {};
  if (::stat(name.c_str(), &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))
    write_in_place(name, content);
  else
    replace(name, content);
}

}  // namespace stowage
