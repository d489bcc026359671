#include <algorithm>
#include <vector>

#include "traces/config/config_text.h"

namespace stowage {
namespace {

// A word of a command line, half-open in the text; `word` is without its quotes.
struct ShellWord {
  std::size_t begin, end;
  std::string word;

  bool is_flag() const { return word.starts_with("--") && word.size() > 2; }
};

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// Behind the blanks, the line continuations and the comments at `at`.
std::size_t behind_gap(const std::string& text, std::size_t at) {
  while (at < text.size()) {
    const bool continues = (text[at] == '\\' || text[at] == '^' || text[at] == '`') && at + 1 < text.size() &&
                           (text[at + 1] == '\n' || text[at + 1] == '\r');
    if (is_blank(text[at]))
      ++at;
    else if (continues)
      at += 2;
    else if (text[at] == '#')
      at = std::min(text.find('\n', at), text.size());
    else
      break;
  }
  return at;
}

std::vector<ShellWord> words_of(const std::string& text) {
  std::vector<ShellWord> words;
  std::size_t at = behind_gap(text, 0);
  while (at < text.size()) {
    ShellWord word{at, at, ""};
    char quote = 0;
    for (; at < text.size() && (quote || !is_blank(text[at])); ++at) {
      if (text[at] == quote)
        quote = 0;
      else if (!quote && (text[at] == '"' || text[at] == '\''))
        quote = text[at];
      else
        word.word += text[at];
    }
    word.end = at;
    words.push_back(std::move(word));
    at = behind_gap(text, at);
  }
  return words;
}

class FlagsConfig final : public ConfigText {
 public:
  FlagsConfig(std::string text, bool assigned)
      : text_(std::move(text)), words_(words_of(text_)), assigned_(assigned) {}

  std::optional<ConfigValue> value(std::string_view path) const override {
    const std::optional<Flag> flag = find(path);
    if (!flag) return {};
    if (flag->value) return value_of_word(*flag->value);
    return true;
  }

  void put(std::string_view path, const ConfigValue& value) override {
    const std::optional<Flag> flag = find(path);
    if (value == ConfigValue(false) && !assigned_) return drop(path);
    const std::string written = spelled(path, value);
    if (flag)
      replace(flag->begin, flag->end, written);
    else
      add(written);
  }

  void drop(std::string_view path) override {
    const std::optional<Flag> flag = find(path);
    if (!flag) return;
    // With what stands between it and the word before.
    const bool first = words_.front().begin == flag->begin;
    std::size_t begin = flag->begin, end = flag->end;
    if (first)
      end = behind_gap(text_, end);
    else
      for (const ShellWord& word : words_)
        if (word.end <= flag->begin) begin = word.end;
    replace(begin, end, "");
  }

  std::string text() const override { return text_; }

 private:
  struct Flag {
    std::size_t begin, end;
    std::optional<std::string> value;
  };

  // The last counts, as it does for the trainer.
  std::optional<Flag> find(std::string_view path) const {
    const std::string name = "--" + std::string(path);
    std::optional<Flag> found;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const ShellWord& word = words_[i];
      if (word.word.starts_with(name + "="))
        found = {word.begin, word.end, word.word.substr(name.size() + 1)};
      if (word.word != name) continue;
      const bool valued = i + 1 < words_.size() && !words_[i + 1].is_flag() && !ends_command(i);
      found = valued ? Flag{word.begin, words_[i + 1].end, words_[i + 1].word}
                     : Flag{word.begin, word.end, std::nullopt};
    }
    return found;
  }

  // Whether a command ends between this word and the next.
  bool ends_command(std::size_t word) const {
    const std::string gap = text_.substr(words_[word].end, words_[word + 1].begin - words_[word].end);
    return gap.find('\n') != std::string::npos && gap.find_first_of("\\^`") == std::string::npos;
  }

  std::string spelled(std::string_view path, const ConfigValue& value) const {
    const std::string name = "--" + std::string(path);
    if (assigned_) return name + "=" + bare_text(value);
    return value == ConfigValue(true) ? name : name + " " + bare_text(value);
  }

  // Behind the last flag and its value, as far from it as the last is from what is before.
  void add(const std::string& written) {
    std::size_t last = words_.size();
    for (std::size_t i = 0; i < words_.size(); ++i)
      if (words_[i].is_flag()) last = i;
    if (last == words_.size()) {
      replace(text_.size(), text_.size(), (text_.empty() || is_blank(text_.back()) ? "" : " ") + written);
      return;
    }
    const std::string gap =
        last == 0 ? " " : text_.substr(words_[last - 1].end, words_[last].begin - words_[last - 1].end);
    const bool valued = last + 1 < words_.size() && !ends_command(last);
    const std::size_t at = words_[valued ? last + 1 : last].end;
    replace(at, at, (gap.find('#') == std::string::npos ? gap : " ") + written);
  }

  void replace(std::size_t begin, std::size_t end, const std::string& with) {
    text_.replace(begin, end - begin, with);
    words_ = words_of(text_);
  }

  std::string text_;
  std::vector<ShellWord> words_;
  bool assigned_;
};

}  // namespace

std::unique_ptr<ConfigText> flags_config(std::string text, bool assigned) {
  return std::make_unique<FlagsConfig>(std::move(text), assigned);
}

}  // namespace stowage
