#include "traces/error.h"

#include <utility>

namespace stowage {
namespace {

std::string joined(const std::string& source, const std::string& path, const std::string& reason) {
  std::string text;
  for (const std::string& part : {source, path})
    if (!part.empty()) text += part + ": ";
  return text + reason;
}

}  // namespace

InputError::InputError(std::string source, std::string path, std::string reason)
    : std::runtime_error(joined(source, path, reason)),
      source_(std::move(source)),
      path_(std::move(path)),
      reason_(std::move(reason)) {}

SystemError::SystemError(const std::string& what_for, const std::string& reason)
    : std::runtime_error(what_for + ": " + reason) {}

}  // namespace stowage
