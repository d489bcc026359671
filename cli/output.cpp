#include "cli/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "traces/error.h"

namespace stowage {
namespace {

constexpr std::size_t bar_length = 24;

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

std::optional<std::size_t> output_width() {
  winsize size{};
  if (!::isatty(STDOUT_FILENO) || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return std::nullopt;
  return size.ws_col;
}

std::string progress_text(const std::string& what, std::int64_t done, std::int64_t total, double seconds,
                          const std::string& unit) {
  const double share =
      total > 0 ? std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0) : 1;
  const auto full = static_cast<std::size_t>(share * bar_length);
  std::string text = what + "  [" + std::string(full, '#') + std::string(bar_length - full, '.') + "] " +
                     std::to_string(static_cast<int>(share * 100)) + " %";
  if (done <= 0 || seconds < 0.5) return text;
  char rate[48];
  if (!unit.empty()) {
    std::snprintf(rate, sizeof rate, ", %.3g %s/s", static_cast<double>(done) / seconds, unit.c_str());
    text += rate;
  }
  if (share < 1) text += ", " + std::to_string(std::llround(seconds * (1 - share) / share)) + " s left";
  return text;
}

ProgressLine::ProgressLine() : terminal_(::isatty(STDERR_FILENO)) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void ProgressLine::show(const std::string& what, std::int64_t done, std::int64_t total,
                        const std::string& unit, const std::string& more) {
  const auto now = std::chrono::steady_clock::now();
  if (!begin_) begin_ = now;
  show(progress_text(what, done, total, std::chrono::duration<double>(now - *begin_).count(), unit) + more);
}

void ProgressLine::show(const std::string& text) {
  if (!terminal_) return;
  shown_ = true;
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  std::fflush(stderr);
}

}  // namespace stowage
