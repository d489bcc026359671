// A JSON object as text, of which single members are changed and everything else stays, to the last space.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stowage {

class JsonObjectText {
 public:
  // Throws InputError as JsonNode::parse(), and where the text is not an object.
  explicit JsonObjectText(std::string text);

  // The value as it is written; absent where there is no such member.
  std::optional<std::string> member(std::string_view key) const;
  // `value` is JSON. A new member goes to the end, written as its neighbours are.
  void set(std::string_view key, std::string_view value);
  // Nothing where there is no such member.
  void erase(std::string_view key);

  const std::string& text() const { return text_; }

 private:
  // Half-open, in the text.
  struct Member {
    std::string key;
    std::size_t begin, value, end;
  };

  void scan();
  std::optional<std::size_t> find(std::string_view key) const;

  std::string text_;
  std::vector<Member> members_;
  std::size_t open_ = 0, close_ = 0;  // the object's braces
};

}  // namespace stowage
