#include "traces/import/json_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "traces/import/characters.h"

namespace stowage {
namespace {

// The digits at the front of `text`, which loses them. False where there are none or they do not fit.
bool take_digits(std::string_view& text, std::uint64_t& value) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return true;
}

bool take_sign(std::string_view& text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  return negative;
}

// `value` with its sign, if it fits.
std::optional<std::int64_t> signed_value(bool negative, std::uint64_t value) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (value > most) return std::nullopt;
  const auto positive = static_cast<std::int64_t>(value);
  return negative ? -positive : positive;
}

// Numbers with exponents are too rare and too inexact to be worth more.
std::optional<std::int64_t> through_double(std::string_view text, double scale) {
  const std::optional<double> value = number_of(text);
  if (!value || std::abs(*value * scale) >= 9e18) return std::nullopt;
  return std::llround(*value * scale);
}

// The fraction that `text` begins with, as thousandths, rounded; what comes after it is ignored.
std::uint64_t thousandths(std::string_view text) {
  std::uint64_t value = 0;
  for (std::size_t place = 0; place < 3; ++place) {
    value = value * 10 +
            (place < text.size() && digit(text[place]) ? static_cast<std::uint64_t>(text[place] - '0') : 0);
  }
  const bool round_up = text.size() > 3 && digit(text[2]) && text[3] >= '5' && digit(text[3]);
  return value + (round_up ? 1 : 0);
}

bool only_digits(std::string_view text) {
  for (char c : text) {
    if (!digit(c)) return false;
  }
  return true;
}

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

// The four hexadecimal digits behind "\u" at the front of `text`.
std::optional<std::uint32_t> code_unit(std::string_view text) {
  if (text.size() < 6 || text[0] != '\\' || text[1] != 'u') return std::nullopt;
  std::uint32_t code = 0;
  const auto [rest, error] = std::from_chars(text.data() + 2, text.data() + 6, code, 16);
  if (error != std::errc() || rest != text.data() + 6) return std::nullopt;
  return code;
}

// Appends the character of a "\u" escape, of two escapes where
// they form a surrogate pair; returns its length.
std::size_t append_code(std::string& out, std::string_view text) {
  const std::optional<std::uint32_t> high = code_unit(text);
  if (!high) {
    out += '\\';
    return 1;
  }
  if (*high >= 0xd800 && *high < 0xdc00) {
    const std::optional<std::uint32_t> low = code_unit(text.substr(6));
    if (low && *low >= 0xdc00 && *low < 0xe000) {
      append_utf8(out, 0x10000 + ((*high - 0xd800) << 10) + (*low - 0xdc00));
      return 12;
    }
  }
  const bool lone_surrogate = *high >= 0xd800 && *high < 0xe000;
  append_utf8(out, lone_surrogate ? 0xfffd : *high);
  return 6;
}

// The length of the character in UTF-8 that `text` begins with; 0 where it begins with none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool no_character = (first == 0xed && byte(1) >= 0xa0) || (first == 0xf4 && byte(1) >= 0x90);
  return overlong || no_character ? 0 : length;
}

}  // namespace

std::string well_formed(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0) {
      append_utf8(out, 0xfffd);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::optional<std::int64_t> integer_of(std::string_view text) {
  std::string_view rest = text;
  const bool negative = take_sign(rest);
  std::uint64_t value = 0;
  if (!take_digits(rest, value)) return std::nullopt;
  if (rest.empty()) return signed_value(negative, value);
  if (rest[0] == '.' && only_digits(rest.substr(1))) return signed_value(negative, value);
  return through_double(text, 1.0);
}

std::optional<std::uint64_t> identifier_of(std::string_view text) {
  std::string_view rest = text;
  std::uint64_t value = 0;
  if (take_digits(rest, value) && rest.empty()) return value;
  const std::optional<std::int64_t> number = integer_of(text);
  if (!number) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

std::optional<Nanos> micros_of(std::string_view text) {
  std::string_view rest = text;
  const bool negative = take_sign(rest);
  std::uint64_t micros = 0, fraction = 0;
  if (!take_digits(rest, micros)) return std::nullopt;
  if (!rest.empty()) {
    if (rest[0] != '.' || !only_digits(rest.substr(1))) {
      const std::optional<std::int64_t> nanos = through_double(text, 1000.0);
      constexpr std::int64_t far = 4'000'000'000'000'000'000;
      if (!nanos || *nanos > far || *nanos < -far) return std::nullopt;
      return Nanos{*nanos};
    }
    fraction = thousandths(rest.substr(1));
  }
  constexpr std::uint64_t most = 4'000'000'000'000'000;  // microseconds: 126 years
  if (micros > most) return std::nullopt;
  const auto nanos = static_cast<std::int64_t>(micros * 1000 + fraction);
  return Nanos{negative ? -nanos : nanos};
}

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string unescaped(std::string_view text) {
  static constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
  std::string out;
  out.reserve(text.size());
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      out += text[at++];
      continue;
    }
    if (text[at + 1] == 'u') {
      at += append_code(out, text.substr(at));
      continue;
    }
    const std::size_t letter = letters.find(text[at + 1]);
    out += letter == std::string_view::npos ? '\\' : meanings[letter];
    at += letter == std::string_view::npos ? 1 : 2;
  }
  return out;
}

}  // namespace stowage
