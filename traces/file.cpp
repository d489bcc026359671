#include "traces/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "traces/error.h"

namespace stowage {
namespace {

namespace fs = std::filesystem;

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

// Appends, so that `-o /dev/stdout >> log` keeps the log.
void write_in_place(const std::string& file, const std::string& content) {
  Descriptor out(::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (out.get() < 0) fail(file, "write");
  write_all(out.get(), content, file);
  if (!out.close()) fail(file, "write");
}

// The regular file, there or not, that `file` stands for: the end of its symbolic links. Absent where a
// rename would be wrong: for a device, a pipe, or a file that a process holds open (/dev/stdout).
std::optional<fs::path> replaceable(const std::string& file) {
  fs::path target = file;
  for (int links = 0; links < 40; ++links) {
    if (target.string().starts_with("/proc/") || target.string().starts_with("/dev/fd/")) return std::nullopt;
    struct stat about {};
    if (::lstat(target.c_str(), &about) != 0 || S_ISREG(about.st_mode)) return target;
    if (!S_ISLNK(about.st_mode)) return std::nullopt;
    std::error_code gone;
    target = target.parent_path() / fs::read_symlink(target, gone);  // an absolute link replaces the folder
  }
  errno = ELOOP;
  fail(file, "write");
}

// Without it a power cut after the rename could leave an empty file. Some file systems cannot.
bool flush(int descriptor) {
  return ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP;
}

// A new file beside `target`, gone again unless it replaces it. `file` is the target as the user knows it.
class Draft {
 public:
  Draft(const fs::path& target, const std::string& file) : target_(target), file_(file) {
    struct stat about {};
    const bool exists = ::stat(target.c_str(), &about) == 0;
    if (exists && ::access(target.c_str(), W_OK) != 0) fail(file, "write");
    // A new file gets 0666, from which the kernel takes the umask; an existing one keeps its mode.
    create(exists ? 0600 : 0666);
    if (exists) ::fchmod(out_->get(), about.st_mode & 0777);
  }
  ~Draft() {
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  Draft(const Draft&) = delete;

  void replace_target(const std::string& content) {
    write_all(out_->get(), content, file_);
    if (!flush(out_->get()) || !out_->close()) fail(file_, "write");
    if (::rename(name_.c_str(), target_.c_str()) != 0) fail(file_, "write");
    name_.clear();
  }

 private:
  void create(mode_t mode) {
    const std::string stem = ".stowage-" + std::to_string(::getpid()) + "-";
    for (int attempt = 0; attempt < 1000; ++attempt) {
      const std::string name = (target_.parent_path() / (stem + std::to_string(attempt))).string();
      out_.emplace(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
      if (out_->get() < 0 && errno == EEXIST) continue;  // of another thread, or left by a process that died
      if (out_->get() < 0) break;
      name_ = name;
      return;
    }
    fail(file_, "write");
  }

  const fs::path& target_;
  const std::string& file_;
  std::string name_;
  std::optional<Descriptor> out_;
};

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
  if (const std::optional<fs::path> target = replaceable(file))
    Draft(*target, file).replace_target(content);
  else
    write_in_place(file, content);
}

}  // namespace stowage
