#include "cli/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string_view>

#include "traces/error.h"

namespace stowage {
namespace {

__extension__ using Wide = __int128;

struct Unit {
  std::string_view name;
  std::int64_t bytes;
};

constexpr std::array<Unit, 10> units = {{{"", 1},
                                         {"B", 1},
                                         {"kB", 1'000},
                                         {"MB", 1'000'000},
                                         {"GB", 1'000'000'000},
                                         {"TB", 1'000'000'000'000},
                                         {"KiB", std::int64_t{1} << 10},
                                         {"MiB", std::int64_t{1} << 20},
                                         {"GiB", std::int64_t{1} << 30},
                                         {"TiB", std::int64_t{1} << 40}}};

[[noreturn]] void refuse(const std::string& source, const std::string& text, const std::string& expected) {
  throw InputError(source, "", "expected " + expected + ", not \"" + text + "\"");
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// A decimal number, as an integer and the power of ten that divides it.
struct Decimal {
  Wide digits = 0;
  Wide scale = 1;
  std::size_t length = 0;  // of its text; 0: none
};

Decimal leading_decimal(std::string_view text) {
  Decimal number;
  bool point = false, any = false;
  std::size_t i = 0;
  for (; i < text.size() && (is_digit(text[i]) || (text[i] == '.' && !point)); ++i) {
    if (text[i] == '.') {
      point = true;
      continue;
    }
    any = true;
    if (i >= 19) return {};  // beyond 63 bits, or finer than any unit
    number.digits = number.digits * 10 + (text[i] - '0');
    if (point) number.scale *= 10;
  }
  if (any) number.length = i;
  return number;
}

std::string three_digits(double value, const char* unit) {
  char text[48];
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  std::snprintf(text, sizeof text, "%.*f %s", decimals, value, unit);
  return text;
}

// `names` are units, each `step` times the one before.
template <std::size_t Count>
std::string scaled(std::int64_t value, double step, const std::array<const char*, Count>& names) {
  const std::string sign = value < 0 ? "-" : "";
  double amount = std::abs(static_cast<double>(value));
  if (amount < step) return std::to_string(value) + " " + names[0];
  std::size_t unit = 0;
  while (unit + 1 < Count && amount >= step) {
    amount /= step;
    ++unit;
  }
  return sign + three_digits(amount, names[unit]);
}

std::string share_text(double share, const char* form) {
  char text[48];
  const double percents = share * 100;
  std::snprintf(text, sizeof text, form, std::abs(percents) < 9.95 ? 1 : 0, percents);
  return text;
}

}  // namespace

Bytes parse_size(const std::string& source, const std::string& text) {
  const std::string expected = "a size such as 24GiB, 24GB or 25769803776";
  if (text.starts_with('-')) refuse(source, text, expected + " that is not negative");
  const Decimal number = leading_decimal(text);
  if (number.length == 0) refuse(source, text, expected);
  std::string_view rest = std::string_view(text).substr(number.length);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == rest; });
  if (unit == units.end()) refuse(source, text, expected);
  const Wide bytes = number.digits * unit->bytes / number.scale;
  if (bytes > std::numeric_limits<std::int64_t>::max()) refuse(source, text, expected + " below 8 EiB");
  return {static_cast<std::int64_t>(bytes)};
}

double parse_share(const std::string& source, const std::string& text) {
  const Decimal number = leading_decimal(text);
  const std::string_view rest = std::string_view(text).substr(number.length);
  if (number.length == 0 || (rest != "" && rest != "%"))
    refuse(source, text, "a share such as 10% or 0.1 that is not negative");
  const double value = static_cast<double>(number.digits) / static_cast<double>(number.scale);
  return rest == "%" ? value / 100 : value;
}

std::int64_t parse_count(const std::string& source, const std::string& text, std::int64_t least,
                         std::int64_t most) {
  std::int64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc() || stop != end || count < least || count > most) {
    std::string range = "of at least " + std::to_string(least);
    if (most != std::numeric_limits<std::int64_t>::max())
      range = "from " + std::to_string(least) + " to " + std::to_string(most);
    refuse(source, text, "an integer " + range);
  }
  return count;
}

std::string readable(Bytes bytes) {
  return scaled<5>(bytes.value, 1024, {"B", "KiB", "MiB", "GiB", "TiB"});
}

std::string readable(Nanos nanos) {
  return scaled<4>(nanos.value, 1000, {"ns", "us", "ms", "s"});
}

std::string percent(double share) {
  return share_text(share, "%.*f %%");
}

std::string change(double share) {
  return share_text(share, "%+.*f %%");
}

}  // namespace stowage
