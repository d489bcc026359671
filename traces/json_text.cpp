#include "traces/json_text.h"

#include "traces/json.h"

namespace stowage {
namespace {

constexpr const char* blank = " \t\r\n";

// Behind the string that begins at `at`. The text is known to be JSON.
std::size_t behind_string(const std::string& text, std::size_t at) {
  for (++at; text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return at + 1;
}

// Behind the value that begins at `at`.
std::size_t behind_value(const std::string& text, std::size_t at) {
  if (text[at] == '"') return behind_string(text, at);
  if (text[at] != '{' && text[at] != '[') return text.find_first_of(std::string(blank) + ",}]", at);
  int depth = 0;
  do {
    if (text[at] == '"') {
      at = behind_string(text, at);
      continue;
    }
    if (text[at] == '{' || text[at] == '[') ++depth;
    if (text[at] == '}' || text[at] == ']') --depth;
    ++at;
  } while (depth > 0);
  return at;
}

std::string quoted(std::string_view key) {
  const std::string text = JsonWriter().begin_array().value(key).end_array().text();
  const std::size_t begin = text.find('"');
  return text.substr(begin, text.rfind('"') + 1 - begin);
}

}  // namespace

JsonObjectText::JsonObjectText(std::string text) : text_(std::move(text)) {
  JsonNode::parse(text_).keys();
  scan();
}

void JsonObjectText::scan() {
  members_.clear();
  open_ = text_.find('{');
  std::size_t at = text_.find_first_not_of(blank, open_ + 1);
  while (text_[at] != '}') {
    Member member;
    member.begin = at;
    const std::size_t behind_key = behind_string(text_, at);
    // As a JSON text of its own, so that escapes are read.
    member.key = JsonNode::parse("[" + text_.substr(at, behind_key - at) + "]").items().front().string();
    member.value = text_.find_first_not_of(blank, text_.find(':', behind_key) + 1);
    member.end = behind_value(text_, member.value);
    members_.push_back(std::move(member));
    at = text_.find_first_not_of(blank, members_.back().end);
    if (text_[at] == ',') at = text_.find_first_not_of(blank, at + 1);
  }
  close_ = at;
}

std::optional<std::size_t> JsonObjectText::find(std::string_view key) const {
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (members_[i].key == key) return i;
  return {};
}

std::optional<std::string> JsonObjectText::member(std::string_view key) const {
  const auto found = find(key);
  if (!found) return {};
  return text_.substr(members_[*found].value, members_[*found].end - members_[*found].value);
}

void JsonObjectText::set(std::string_view key, std::string_view value) {
  if (const auto found = find(key)) {
    const Member& member = members_[*found];
    text_.replace(member.value, member.end - member.value, value);
  } else {
    const std::string member = quoted(key) + ": " + std::string(value);
    if (members_.empty()) {
      text_.replace(open_ + 1, close_ - open_ - 1, "\n  " + member + "\n");
    } else {
      const Member& last = members_.back();
      const std::size_t before = members_.size() > 1 ? members_[members_.size() - 2].end : open_;
      // What stands between a member and the one before, without the comma.
      std::string gap = text_.substr(before + 1, last.begin - before - 1);
      gap.erase(0, gap.find_first_not_of(',') == std::string::npos ? gap.size() : gap.find_first_not_of(','));
      text_.insert(last.end, "," + gap + member);
    }
  }
  scan();
}

void JsonObjectText::erase(std::string_view key) {
  const auto found = find(key);
  if (!found) return;
  const Member& member = members_[*found];
  const bool last = *found + 1 == members_.size();
  if (last && *found > 0)
    text_.erase(members_[*found - 1].end, member.end - members_[*found - 1].end);
  else if (last)
    text_.erase(member.begin, member.end - member.begin);
  else
    text_.erase(member.begin, members_[*found + 1].begin - member.begin);
  scan();
}

}  // namespace stowage
