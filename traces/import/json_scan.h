// A forgiving scanner over a stretch of JSON in memory.
//
// It keeps no tree: the caller walks, and takes or skips each value. What a writer of recordings is known to
// get wrong is read as it was meant, and noted. Two modes: strict takes every quote that is not escaped as
// the end of its string, which is right unless the text then makes no sense; careful, for a second attempt,
// takes a quote as the end only if what follows looks like the rest of the enclosing object or array.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "traces/import/json_text.h"
#include "traces/import/repairs.h"

namespace stowage {

class JsonScan {
 public:
  enum class Mode : std::uint8_t { strict, careful };
  enum class Failure : std::uint8_t {
    none,
    incomplete,  // the stretch ends first
    broken,      // this is no JSON
  };
  enum class Place : std::uint8_t { member, item };  // of a value: in an object, in an array

  // Scans [at, end). At least ByteWindow::padding zero bytes follow `end`. `last`: nothing comes after `end`.
  JsonScan(const char* at, const char* end, bool last, Mode mode)
      : at_(at), end_(end), last_(last), mode_(mode) {}

  const char* at() const { return at_; }
  Failure failure() const { return failure_; }
  // The gravest repair so far.
  std::optional<Repair> repair() const { return repair_; }

  // The next character that is no space; 0 at the end.
  char peek() {
    while (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r') ++at_;
    return *at_;
  }
  // Passes over `c`, and spaces before it. False, with a failure, where something else stands there.
  bool take(char c) {
    if (peek() != c) return fail();
    ++at_;
    return true;
  }
  // Whether the object or array that `close` ends has one more element; passes over the comma before it, or
  // over `close`. After a failure: false.
  bool another(char close, bool first) {
    if (failure_ != Failure::none) return false;
    if (peek() == close) {
      ++at_;
      return false;
    }
    if (!first && !take(',')) return false;
    const char next = peek();
    if (next == ',' || next == close || next == '\0') return pass_strays(close, first);
    return true;
  }
  // A key and its colon.
  bool key(std::string_view& name) {
    bool escaped = false;
    if (peek() != '"') return fail();
    return string(name, escaped, StringEnd::key) && take(':');
  }
  // Any value, passed over whole.
  bool value(JsonText& value, Place place);

 private:
  enum class StringEnd : std::uint8_t { key, member, item };

  bool fail();
  void note(Repair repair);
  bool pass_strays(char close, bool first);
  bool string(std::string_view& text, bool& escaped, StringEnd what);
  bool rest_of_string(StringEnd what, bool& escaped);
  bool pass_backslash(StringEnd what, bool& closed);
  bool closes(const char* quote, StringEnd what);
  bool follows_member(const char* at);
  bool follows_item(const char* at);
  bool past_end(const char* at);
  bool word(JsonText& value);
  bool composite(JsonText& value);
  bool skip_composite();
  bool walk_composite(int depth);

  const char* at_;
  const char* end_;
  bool last_;
  Mode mode_;
  Failure failure_ = Failure::none;
  std::optional<Repair> repair_;
};

}  // namespace stowage
