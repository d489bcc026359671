// The three things that can go wrong. `main` catches them once; everything else is an answer, not an
// exception. What the first two say is one line, with control characters replaced.
#pragma once

#include <stdexcept>
#include <string>

namespace stowage {

// The input is wrong: which file (or flag), which key in it, and what was expected. Exit code 2.
class InputError : public std::runtime_error {
 public:
  // `source` names the file or flag, `path` the key inside it ("blocks[3].count"); either may be empty.
  InputError(std::string source, std::string path, std::string reason);

  const std::string& source() const { return source_; }
  const std::string& path() const { return path_; }
  const std::string& reason() const { return reason_; }
  // The same error, told of `source`: for codecs that only learn the file's name further up.
  InputError in(const std::string& source) const { return {source, path_, reason_}; }

 private:
  std::string source_, path_, reason_;
};

// The system refused: a file that cannot be opened or written, no memory, no device. Exit code 2.
class SystemError : public std::runtime_error {
 public:
  SystemError(const std::string& what_for, const std::string& reason);
};

// Stowage contradicts itself: a defect, worth a report. Exit code 2 and a request to report it.
class DefectError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace stowage
