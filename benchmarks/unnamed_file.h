// Scratch on disk that cannot be left behind.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

namespace stowage::benchmarks {

// A file in the folder for temporary ones that has lost its name: its space is free again when the process
// ends, however it ends. The processes that this one starts can open it by path() meanwhile.
class UnnamedFile {
 public:
  // Throws std::system_error.
  UnnamedFile() {
    std::string name = (std::filesystem::temp_directory_path() / "stowage-XXXXXX").string();
    descriptor_ = ::mkstemp(name.data());
    if (descriptor_ < 0 || ::unlink(name.c_str()) != 0)
      throw std::system_error(errno, std::generic_category(), name);
  }
  ~UnnamedFile() { ::close(descriptor_); }
  UnnamedFile(const UnnamedFile&) = delete;

  std::string path() const {
    return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(descriptor_);
  }

 private:
  int descriptor_;
};

}  // namespace stowage::benchmarks
