#include "cli/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "traces/error.h"

namespace stowage {
namespace {

bool colours() {
  const char* refused = std::getenv("NO_COLOR");
  return ::isatty(STDOUT_FILENO) && !(refused && *refused);
}

void print(std::FILE* to, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), to);
  if (text.empty() || text.back() != '\n') std::fputc('\n', to);
}

}  // namespace

void Output::say(const std::string& text) {
  if (!json_) print(stdout, text);
}

void Output::answer(const std::string& sentence) {
  say(colours() ? "\033[1m" + sentence + "\033[0m" : sentence);
}

void Output::warn(const std::string& text) {
  print(stderr, "warning: " + text);
}

void Output::object(const std::string& text) {
  if (json_) print(stdout, text);
}

void Output::finish() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    throw SystemError("standard output", std::string("cannot write: ") + std::strerror(errno));
}

ProgressLine::ProgressLine() : terminal_(::isatty(STDERR_FILENO)) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void ProgressLine::show(const std::string& text) {
  if (!terminal_) return;
  shown_ = true;
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  std::fflush(stderr);
}

}  // namespace stowage
