// Where a command's words go: to people, or as one JSON object.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stowage {

class Output {
 public:
  // `json`: people's text is dropped and standard output holds the object alone.
  explicit Output(bool json) : json_(json) {}

  bool json() const { return json_; }
  // A paragraph for people, on standard output.
  void say(const std::string& text);
  // The sentence that answers, set off where the terminal can; NO_COLOR is respected.
  void answer(const std::string& sentence);
  void warn(const std::string& text);  // on standard error, in both forms
  void object(const std::string& text);

  // Throws SystemError where standard output did not take everything (a full disk).
  void finish();

 private:
  bool json_;
};

// How many characters a line of standard output takes; absent where it is no terminal, and lines may be of
// any length.
std::optional<std::size_t> output_width();

// "tuning  [#####...............] 25 %, 6 s left": how far, at what rate of `unit` a second, and how long it
// will take at that rate. Rate and rest are left out until there is something to tell.
std::string progress_text(const std::string& what, std::int64_t done, std::int64_t total, double seconds,
                          const std::string& unit);

// How far long work has come, on one line of standard error that goes away; nothing unless it is a terminal.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;

  void show(const std::string& text);
  // A bar with the rate since the first call and the time left; `unit` as progress_text() has it, `more`
  // after it.
  void show(const std::string& what, std::int64_t done, std::int64_t total, const std::string& unit = "",
            const std::string& more = "");

 private:
  bool terminal_, shown_ = false;
  std::optional<std::chrono::steady_clock::time_point> begin_;
};

}  // namespace stowage
