// Where a command's words go: to people, or as one JSON object.
#pragma once

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

// How far long work has come, on one line of standard error that goes away; nothing unless it is a terminal.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;

  void show(const std::string& text);

 private:
  bool terminal_, shown_ = false;
};

}  // namespace stowage
