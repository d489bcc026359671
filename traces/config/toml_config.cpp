#include <toml++/toml.h>

#include <algorithm>
#include <vector>

#include "traces/config/config_text.h"
#include "traces/config/text_lines.h"
#include "traces/error.h"

namespace stowage {
namespace {

std::string toml_of(const ConfigValue& value) {
  const std::string bare = bare_text(value);
  return std::holds_alternative<std::string>(value) ? quoted_word(bare) : bare;
}

class TomlConfig final : public ConfigText {
 public:
  TomlConfig(std::string text, bool flat) : text_(std::move(text)), flat_(flat) { parse(); }

  std::optional<ConfigValue> value(std::string_view key) const override {
    const std::string path = place_of(key);
    const toml::node* node = table_.at_path(path).node();
    if (!node) return {};
    if (const auto* flag = node->as_boolean()) return flag->get();
    if (const auto* number = node->as_integer()) return number->get();
    if (const auto* number = node->as_floating_point()) return number->get();
    if (const auto* word = node->as_string()) return word->get();
    throw InputError("", path, "expected true, false, a number or a string");
  }

  void put(std::string_view key, const ConfigValue& value) override {
    const std::string path = place_of(key);
    if (const toml::node* node = table_.at_path(path).node()) {
      const std::size_t begin = offset_of(text_, position(node->source().begin));
      text_.replace(begin, offset_of(text_, position(node->source().end)) - begin, toml_of(value));
    } else {
      refuse_inline(path);
      add(path, toml_of(value));
    }
    parse();
  }

  void drop(std::string_view key) override {
    const std::string path = place_of(key);
    const toml::node* const node = table_.at_path(path).node();
    if (!node) return;
    refuse_inline(path);
    const std::size_t begin = offset_of(text_, {node->source().begin.line, 1});
    text_.erase(begin, behind_line(text_, offset_of(text_, position(node->source().end))) - begin);
    parse();
  }

  std::string text() const override { return text_; }

 private:
  // Of tables that have the key the last counts, as for those who join them.
  std::string place_of(std::string_view key) const {
    std::string place(key);
    if (!flat_) return place;
    std::size_t line = 0;
    for (const auto& [name, node] : table_) {
      const toml::table* const table = node.as_table();
      if (!table || !table->contains(key) || node.source().begin.line < line) continue;
      line = node.source().begin.line;
      place = std::string(name.str()) + "." + std::string(key);
    }
    return place;
  }

  static TextPosition position(const toml::source_position& at) { return {at.line, at.column}; }

  void parse() {
    try {
      table_ = toml::parse(text_);
    } catch (const toml::parse_error& error) {
      const toml::source_position at = error.source().begin;
      throw InputError("", "line " + std::to_string(at.line) + ", column " + std::to_string(at.column),
                       std::string(error.description()));
    }
  }

  void refuse_inline(std::string_view path) const {
    const std::size_t dot = path.rfind('.');
    const toml::table* const table =
        dot == std::string_view::npos ? nullptr : table_.at_path(path.substr(0, dot)).as_table();
    if (table && table->is_inline())
      throw InputError(
          "", std::string(path),
          "expected in a table that is written as [" + std::string(path.substr(0, dot)) + "], not in braces");
  }

  // Behind the last value that the table itself holds; for the top that is before the first header.
  void add(std::string_view path, const std::string& value) {
    const std::size_t dot = path.rfind('.');
    const bool top = dot == std::string_view::npos;
    const std::string key(top ? path : path.substr(dot + 1));
    const std::string line = key + " = " + value + "\n";
    const toml::table* table = top ? &table_ : table_.at_path(path.substr(0, dot)).as_table();
    if (!table) {
      end_line(text_);
      if (!text_.empty()) text_ += "\n";
      text_ += "[" + std::string(path.substr(0, dot)) + "]\n" + line;
      return;
    }
    std::size_t at = top ? 0 : behind_line(text_, offset_of(text_, position(table->source().begin)));
    std::string indent;
    for (const auto& [name, node] : *table) {
      if (node.is_table() || node.is_array_of_tables()) continue;
      const std::size_t behind = behind_line(text_, offset_of(text_, position(node.source().end)));
      if (behind < at) continue;
      at = behind;
      indent = indent_at(text_, offset_of(text_, {name.source().begin.line, 1}));
    }
    if (at == text_.size()) end_line(text_), at = text_.size();
    text_.insert(at, indent + line);
  }

  std::string text_;
  bool flat_;
  toml::table table_;
};

}  // namespace

std::unique_ptr<ConfigText> toml_config(std::string text, bool flat) {
  return std::make_unique<TomlConfig>(std::move(text), flat);
}

}  // namespace stowage
