#include <algorithm>
#include <utility>

#include "traces/config/config_text.h"
#include "traces/config/text_lines.h"

namespace stowage {
namespace {

class EnvConfig final : public ConfigText {
 public:
  explicit EnvConfig(std::string text) : text_(std::move(text)) {}

  std::optional<ConfigValue> value(std::string_view path) const override {
    const auto [key, flag] = parts(path);
    const std::optional<Place> place = find(key);
    if (!place) return {};
    const std::string word = unquoted(*place);
    if (flag.empty()) return value_of_word(word);
    return flags_config(word, true)->value(flag);
  }

  void put(std::string_view path, const ConfigValue& value) override {
    const auto [key, flag] = parts(path);
    const std::optional<Place> place = find(key);
    if (flag.empty()) return write(key, place, bare_text(value), false);
    const std::unique_ptr<ConfigText> arguments = flags_config(place ? unquoted(*place) : "", true);
    arguments->set(flag, value);
    write(key, place, arguments->text(), true);
  }

  void drop(std::string_view path) override {
    const auto [key, flag] = parts(path);
    const std::optional<Place> place = find(key);
    if (!place) return;
    if (flag.empty()) {
      text_.erase(place->line, behind_line(text_, place->line) - place->line);
      return;
    }
    const std::unique_ptr<ConfigText> arguments = flags_config(unquoted(*place), true);
    arguments->erase(flag);
    write(key, place, arguments->text(), true);
  }

  std::string text() const override { return text_; }

 private:
  // Half-open, in the text.
  struct Place {
    std::size_t line, begin, end;
  };

  static std::pair<std::string_view, std::string_view> parts(std::string_view path) {
    const std::size_t colon = path.find(':');
    if (colon == std::string_view::npos) return {path, {}};
    return {path.substr(0, colon), path.substr(colon + 1)};
  }

  // The last counts, as it does for a shell.
  std::optional<Place> find(std::string_view key) const {
    std::optional<Place> found;
    for (std::size_t line = 0; line < text_.size(); line = behind_line(text_, line)) {
      std::size_t at = line + indent_at(text_, line).size();
      if (text_.compare(at, 7, "export ") == 0) at = text_.find_first_not_of(' ', at + 6);
      if (at == std::string::npos || text_.compare(at, key.size(), key) != 0) continue;
      at += key.size();
      if (at >= text_.size() || text_[at] != '=') continue;
      found = {line, at + 1, end_of_value(at + 1)};
    }
    return found;
  }

  std::size_t end_of_value(std::size_t begin) const {
    const char quote = begin < text_.size() ? text_[begin] : '\n';
    if (quote == '"' || quote == '\'') {
      const std::size_t end = text_.find(quote, begin + 1);
      if (end != std::string::npos) return end + 1;
    }
    return std::min(text_.find_first_of(" \t\r\n#", begin), text_.size());
  }

  std::string unquoted(const Place& place) const {
    const std::string word = text_.substr(place.begin, place.end - place.begin);
    const bool quoted = word.size() >= 2 && (word.front() == '"' || word.front() == '\'');
    return quoted ? word.substr(1, word.size() - 2) : word;
  }

  void write(std::string_view key, const std::optional<Place>& place, const std::string& word, bool quoted) {
    const std::string value = quoted ? '"' + word + '"' : word;
    if (place) {
      text_.replace(place->begin, place->end - place->begin, value);
      return;
    }
    end_line(text_);
    const bool exports = text_.starts_with("export ") || text_.find("\nexport ") != std::string::npos;
    text_ += (exports ? "export " : "") + std::string(key) + "=" + value + "\n";
  }

  std::string text_;
};

}  // namespace

std::unique_ptr<ConfigText> env_config(std::string text) {
  return std::make_unique<EnvConfig>(std::move(text));
}

}  // namespace stowage
