#include "traces/error.h"

#include <utility>

namespace stowage {
namespace {

// Names and keys come from files: whatever they hold, a message is one line and cannot steer a terminal.
std::string one_line(std::string text) {
  for (char& c : text)
    if (const auto code = static_cast<unsigned char>(c); code < 0x20 || code == 0x7f) c = '?';
  return text;
}

std::string joined(const std::string& source, const std::string& path, const std::string& reason) {
  std::string text;
  for (const std::string& part : {source, path})
    if (!part.empty()) text += part + ": ";
  return one_line(text + reason);
}

}  // namespace

InputError::InputError(std::string source, std::string path, std::string reason)
    : std::runtime_error(joined(source, path, reason)),
      source_(std::move(source)),
      path_(std::move(path)),
      reason_(std::move(reason)) {}

SystemError::SystemError(const std::string& what_for, const std::string& reason)
    : std::runtime_error(joined("", what_for, reason)) {}

}  // namespace stowage
