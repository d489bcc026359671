#include "traces/import/json_scan.h"

#include <array>
#include <bit>
#include <cstring>

#include "traces/import/characters.h"

namespace stowage {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the word scan takes the first byte from the low end");

constexpr std::uint64_t every(unsigned char byte) {
  return 0x0101010101010101ULL * byte;
}

// The first quote, backslash or control character from `at` on, eight bytes at a time. A byte that is found
// may be followed by false hits, never preceded by one, so that the lowest is right.
const char* plain_end(const char* at) {
  for (;; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    const std::uint64_t quote = word ^ every('"'), backslash = word ^ every('\\');
    const std::uint64_t hits = ((quote - every(1)) & ~quote) | ((backslash - every(1)) & ~backslash) |
                               ((word - every(0x20)) & ~word);
    if (const std::uint64_t found = hits & every(0x80)) return at + std::countr_zero(found) / 8;
  }
}

constexpr std::array<bool, 256> table_of(std::string_view characters) {
  std::array<bool, 256> table{};
  for (char c : characters) table[static_cast<unsigned char>(c)] = true;
  return table;
}

bool in(const std::array<bool, 256>& table, char c) {
  return table[static_cast<unsigned char>(c)];
}

constexpr std::array<bool, 256> brackets = table_of({"[]{}\"\0", 6});
constexpr std::array<bool, 256> word_ends = table_of({",]}{[:\" \n\t\r\0", 12});
constexpr std::array<bool, 256> value_starts = table_of("\"[{-0123456789tfnNI");

bool number_start(char c) {
  return c == '-' || (c >= '0' && c <= '9');
}

// Letters and signs do occur inside numbers; whether they make
// sense is for those to say who ask for the value.
constexpr std::array<bool, 256> number_parts = table_of("0123456789+-.eE");

}  // namespace

bool JsonScan::fail() {
  if (failure_ == Failure::none) failure_ = at_ >= end_ ? Failure::incomplete : Failure::broken;
  return false;
}

void JsonScan::note(Repair repair) {
  if (!repair_ || *repair_ < repair) repair_ = repair;
}

bool JsonScan::pass_strays(char close, bool first) {
  while (peek() == ',' || (*at_ == close && !first)) {
    note(Repair::stray_comma);
    if (*at_++ == close) return false;
  }
  return at_ < end_ || fail();
}

bool JsonScan::value(JsonText& value, Place place) {
  const char first = peek();
  if (first == '"') {
    value.kind = JsonText::Kind::string;
    return string(value.text, value.escaped, place == Place::member ? StringEnd::member : StringEnd::item);
  }
  value.escaped = false;
  if (first == '{' || first == '[') return composite(value);
  return word(value);
}

bool JsonScan::string(std::string_view& text, bool& escaped, StringEnd what) {
  const char* const start = ++at_;
  at_ = plain_end(at_);
  escaped = false;
  if (*at_ != '"' || mode_ == Mode::careful) {
    if (!rest_of_string(what, escaped)) return false;
  }
  text = {start, static_cast<std::size_t>(at_ - start)};
  ++at_;
  return true;
}

// Goes on from a quote, a backslash or a control character to the quote that ends the string.
bool JsonScan::rest_of_string(StringEnd what, bool& escaped) {
  for (bool closed = false; !closed; at_ = closed ? at_ : plain_end(at_)) {
    if (*at_ == '"') {
      closed = mode_ == Mode::strict || closes(at_, what);
      if (failure_ != Failure::none) return false;
      if (!closed) note(Repair::raw_quote);
      if (!closed) ++at_;
    } else if (*at_ == '\\') {
      escaped = true;
      if (!pass_backslash(what, closed)) return false;
    } else if (at_ >= end_) {
      return fail();
    } else {
      note(Repair::control_character);
      ++at_;
    }
  }
  return true;
}

// Stands at a backslash and passes over the escape. A path that ends in a backslash hides the quote after it.
bool JsonScan::pass_backslash(StringEnd what, bool& closed) {
  static constexpr std::array<bool, 256> escapes = table_of("\"\\/bfnrtu");
  if (at_ + 1 >= end_) {
    at_ = end_;
    return fail();
  }
  if (at_[1] == '"' && mode_ == Mode::careful && closes(at_ + 1, what)) {
    note(Repair::bad_escape);
    ++at_;
    closed = true;
    return true;
  }
  if (failure_ != Failure::none) return false;
  const bool known = in(escapes, at_[1]);
  if (!known) note(Repair::bad_escape);
  at_ += known ? 2 : 1;
  return true;
}

// Whether the text after `quote` goes on as it would after the end of such a string.
bool JsonScan::closes(const char* quote, StringEnd what) {
  const char* next = past_spaces(quote + 1);
  if (past_end(next)) return false;
  if (what == StringEnd::key) return *next == ':';
  return what == StringEnd::member ? follows_member(next) : follows_item(next);
}

// True at the end of the stretch, where the answer needs more of the source.
bool JsonScan::past_end(const char* at) {
  if (at < end_) return false;
  at_ = end_;
  fail();
  return true;
}

// The end of the object, itself followed by a comma or an end; or a comma and the next key.
bool JsonScan::follows_member(const char* at) {
  const char* next = past_spaces(at + 1);
  if (next >= end_ && last_) return *at == '}';
  if (past_end(next)) return false;
  if (*at == '}') return *next == ',' || *next == '}' || *next == ']';
  if (*at != ',' || *next != '"') return false;
  static constexpr std::ptrdiff_t longest_key = 200;
  const char* const limit = end_ - next > longest_key ? next + longest_key : end_;
  const auto* close = static_cast<const char*>(
      std::memchr(next + 1, '"', static_cast<std::size_t>(limit > next ? limit - next - 1 : 0)));
  if (close == nullptr) return limit == end_ && past_end(end_);
  const char* colon = past_spaces(close + 1);
  return !past_end(colon) && *colon == ':';
}

bool JsonScan::follows_item(const char* at) {
  const char* next = past_spaces(at + 1);
  if (next >= end_ && last_) return *at == ']';
  if (past_end(next)) return false;
  if (*at == ']') return *next == ',' || *next == '}' || *next == ']';
  return *at == ',' && in(value_starts, *next);
}

bool JsonScan::word(JsonText& value) {
  const char* const start = at_;
  while (in(number_parts, *at_)) ++at_;
  const bool number = at_ > start && in(word_ends, *at_) && number_start(*start);
  while (!in(word_ends, *at_)) ++at_;
  value.text = {start, static_cast<std::size_t>(at_ - start)};
  value.kind = number ? JsonText::Kind::number : JsonText::Kind::word;
  const char next = peek();
  if (at_ >= end_ || (next != ',' && next != '}' && next != ']')) return fail();
  if (!number && value.text != "null" && value.text != "true" && value.text != "false") {
    note(Repair::not_a_number);
  }
  return true;
}

bool JsonScan::composite(JsonText& value) {
  const char* const start = at_;
  if (!(mode_ == Mode::strict ? skip_composite() : walk_composite(0))) return false;
  value.kind = JsonText::Kind::composite;
  value.text = {start, static_cast<std::size_t>(at_ - start)};
  return true;
}

// Counts brackets, whichever, to where the first one closes.
bool JsonScan::skip_composite() {
  std::string_view text;
  bool escaped = false;
  for (std::int64_t depth = 0;;) {
    while (!in(brackets, *at_)) ++at_;
    if (*at_ == '"') {
      if (!string(text, escaped, StringEnd::item)) return false;
    } else if (*at_ == '\0') {
      return fail();
    } else {
      depth += *at_ == '[' || *at_ == '{' ? 1 : -1;
      ++at_;
      if (depth == 0) return true;
    }
  }
}

bool JsonScan::walk_composite(int depth) {
  static constexpr int deepest = 64;
  if (depth == deepest) return fail();
  const bool object = *at_ == '{';
  ++at_;
  JsonText inner;
  std::string_view name;
  for (bool first = true; another(object ? '}' : ']', first); first = false) {
    if (object && !key(name)) return false;
    const char start = peek();
    const bool passed = start == '{' || start == '[' ? walk_composite(depth + 1)
                                                     : value(inner, object ? Place::member : Place::item);
    if (!passed) return false;
  }
  return failure_ == Failure::none;
}

}  // namespace stowage
