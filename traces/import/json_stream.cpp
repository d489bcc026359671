#include "traces/import/json_stream.h"

#include <algorithm>
#include <cstring>

#include "traces/import/characters.h"

namespace stowage {
namespace {

constexpr std::ptrdiff_t largest_element = std::ptrdiff_t{32} << 20;
// What seek() must see from a candidate on to judge it.
constexpr std::ptrdiff_t judged = 64;

// What follows `"key"` and its colon at `at`; null where something else stands there.
const char* past_key(const char* at, const char* end, std::string_view key) {
  if (*at != '"' || end - at < static_cast<std::ptrdiff_t>(key.size()) + 2) return nullptr;
  if (std::string_view(at + 1, key.size()) != key || at[key.size() + 1] != '"') return nullptr;
  at = past_spaces(at + key.size() + 2);
  return *at == ':' ? at + 1 : nullptr;
}

}  // namespace

JsonStream::JsonStream(ByteWindow& window, Repairs& repairs, Shape shape)
    : window_(&window), repairs_(&repairs), shape_(std::move(shape)), at_(window.begin()) {}

bool JsonStream::next() {
  while (stage_ != Stage::done) {
    if (stage_ == Stage::start) {
      start();
    } else if (stage_ == Stage::members) {
      step_members();
    } else if (step_elements()) {
      return true;
    }
  }
  return false;
}

// The next character that is no space; 0 at the end of the source.
char JsonStream::peek() {
  do {
    at_ = past_spaces(at_);
    if (at_ < window_->end()) return *at_;
  } while (window_->more(at_));
  return '\0';
}

void JsonStream::start() {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (std::string_view(at_, static_cast<std::size_t>(window_->end() - at_)).starts_with(byte_order_mark)) {
    at_ += byte_order_mark.size();
  }
  const char first = peek();
  stage_ = first == '[' ? Stage::bare_elements : Stage::members;
  if (first == '[' || first == '{') ++at_;
}

void JsonStream::step_members() {
  const char next = peek();
  offset_ = window_->offset_of(at_);
  if (next == ',' || next == '}') {
    ++at_;
    if (next == '}') finish();
    return;
  }
  bool at_array = false;
  const Reading reading = attempt([&](JsonScan& scan) {
    std::string_view key;
    if (!scan.key(key)) return false;
    at_array = key == shape_.array && scan.peek() == '[';
    if (at_array) return scan.take('[');
    JsonText passed;
    return shape_.member ? shape_.member(key, scan) : scan.value(passed, JsonScan::Place::member);
  });
  if (reading == Reading::read) {
    if (repair_) repairs_->add(*repair_, offset_);
    if (at_array) stage_ = Stage::elements;
    return;
  }
  repairs_->add(reading == Reading::incomplete ? Repair::truncated : Repair::dropped_event, offset_);
  if (seek(&JsonStream::array_starts)) {
    at_ = std::find(at_, window_->end(), '[') + 1;
    stage_ = Stage::elements;
  } else {
    stage_ = Stage::done;
  }
}

bool JsonStream::step_elements() {
  const char next = peek();
  offset_ = window_->offset_of(at_);
  if (next == ',' || next == ']') {
    ++at_;
    if (next == ']' && stage_ == Stage::bare_elements) {
      finish();
    } else if (next == ']') {
      stage_ = Stage::members;
    }
    return false;
  }
  const Reading reading = attempt(shape_.element);
  if (reading == Reading::read) return true;
  recover(reading);
  return false;
}

JsonStream::Reading JsonStream::attempt(const ReadElement& read) {
  reached_ = at_;
  const Reading strict = attempt(read, JsonScan::Mode::strict);
  if (strict == Reading::read || strict == Reading::oversized) return strict;
  return attempt(read, JsonScan::Mode::careful);
}

JsonStream::Reading JsonStream::attempt(const ReadElement& read, JsonScan::Mode mode) {
  for (;;) {
    JsonScan scan(at_, window_->end(), window_->at_end(), mode);
    if (read(scan) && (mode == JsonScan::Mode::strict || !runs_on(scan.at()))) {
      at_ = scan.at();
      repair_ = scan.repair();
      return Reading::read;
    }
    reached_ = std::max(reached_, std::min(scan.at(), window_->end()));
    if (scan.failure() != JsonScan::Failure::incomplete) return Reading::broken;
    if (window_->at_end()) return Reading::incomplete;
    if (window_->end() - at_ > largest_element) return Reading::oversized;
    const std::ptrdiff_t reach = reached_ - at_;
    window_->more(at_);
    reached_ = at_ + reach;
  }
}

// Whether the element at hand, read with guesses, ran on into another one before `stop`.
bool JsonStream::runs_on(const char* stop) const {
  for (const char* at = at_ + 1; at < stop; ++at) {
    if (element_starts(at)) return true;
  }
  return false;
}

// Goes on behind what could not be read: at the next character, or where reading it ended once that has been
// tried often enough to cost more than reading the file does.
void JsonStream::recover(Reading reading) {
  const std::uint64_t element = offset_;
  wasted_ += static_cast<std::uint64_t>(reached_ - at_);
  const bool patient = reading != Reading::oversized && wasted_ < 4 * offset_ + largest_element / 2;
  at_ = patient ? at_ + (at_ < window_->end() ? 1 : 0) : std::max(reached_ - judged, at_ + 1);
  const bool found = seek(&JsonStream::element_starts);
  if (!found && reading == Reading::incomplete) {
    repairs_->add(Repair::truncated, element);
  } else {
    repairs_->add(reading == Reading::oversized ? Repair::oversized_event : Repair::dropped_event, element);
    if (!found && !ends_closed()) repairs_->add(Repair::truncated, window_->offset_of(window_->end()));
  }
  if (!found) stage_ = Stage::done;
}

// Moves to the next place that `here` accepts. False, at the end of the source, where there is none.
bool JsonStream::seek(bool (JsonStream::*here)(const char*) const) {
  for (;;) {
    while (at_ < window_->end() && (window_->at_end() || window_->end() - at_ >= judged)) {
      if ((this->*here)(at_)) return true;
      ++at_;
    }
    if (!window_->more(at_) && at_ >= window_->end()) return false;
  }
}

bool JsonStream::element_starts(const char* at) const {
  if (*at != (shape_.first_keys.empty() ? '[' : '{')) return false;
  at = past_spaces(at + 1);
  if (shape_.first_keys.empty()) return *at == '-' || (*at >= '0' && *at <= '9');
  return std::any_of(shape_.first_keys.begin(), shape_.first_keys.end(),
                     [&](std::string_view key) { return past_key(at, window_->end(), key) != nullptr; });
}

bool JsonStream::array_starts(const char* at) const {
  const char* behind = past_key(at, window_->end(), shape_.array);
  return behind != nullptr && *past_spaces(behind) == '[';
}

// At the end of the document; nothing but spaces may follow.
void JsonStream::finish() {
  stage_ = Stage::done;
  if (peek() != '\0' || at_ < window_->end()) {
    repairs_->add(Repair::trailing_bytes, window_->offset_of(at_));
  }
}

bool JsonStream::ends_closed() const {
  const char* last = window_->end();
  while (last > window_->begin() && static_cast<unsigned char>(last[-1]) <= ' ') --last;
  return last > window_->begin() && (last[-1] == '}' || last[-1] == ']');
}

}  // namespace stowage
