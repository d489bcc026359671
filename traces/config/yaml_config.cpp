#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <vector>

#include "traces/config/config_text.h"
#include "traces/config/text_lines.h"
#include "traces/error.h"

namespace stowage {
namespace {

constexpr const char* yaml_blank = " \t\r";

std::vector<std::string> keys_of(std::string_view path) {
  std::vector<std::string> keys;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    keys.emplace_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return keys;
}

// Words that YAML would take for something else are quoted.
std::string yaml_of(const ConfigValue& value) {
  const std::string bare = bare_text(value);
  if (!std::holds_alternative<std::string>(value)) return bare;
  const bool plain = !bare.empty() && std::holds_alternative<std::string>(value_of_word(bare)) &&
                     bare.find_first_of(":#{}[],&*!|>'\"%@` \t\n") == std::string::npos && bare != "null";
  return plain ? bare : quoted_word(bare);
}

class YamlConfig final : public ConfigText {
 public:
  explicit YamlConfig(std::string text) : text_(std::move(text)) { parse(); }

  std::optional<ConfigValue> value(std::string_view path) const override {
    const YAML::Node node = at_path(path);
    if (!node || node.IsNull()) return {};
    if (!node.IsScalar()) throw InputError("", std::string(path), "expected true, false, a number or a word");
    if (node.Tag() == "!") return node.Scalar();  // quoted
    return value_of_word(node.Scalar());
  }

  void put(std::string_view path, const ConfigValue& value) override {
    const YAML::Node node = at_path(path);
    if (node && (node.IsScalar() || null_size(node) > 0)) {
      const std::size_t begin = offset(node);
      const std::size_t size = node.IsNull() ? null_size(node) : end_of_scalar(node) - begin;
      text_.replace(begin, size, yaml_of(value));
    } else {
      if (node) drop(path);  // of a key without a value
      add(keys_of(path), yaml_of(value));
    }
    parse();
  }

  void drop(std::string_view path) override {
    const std::optional<std::size_t> key = place_of_key(path);
    if (!key) return;
    const YAML::Node node = at_path(path);
    const std::size_t begin = text_.rfind('\n', *key) + 1;
    if (text_.find_first_not_of(yaml_blank, begin) != *key || (!node.IsScalar() && !node.IsNull()))
      throw InputError("", std::string(path), "expected on a line of its own, with a single value");
    text_.erase(begin, behind_line(text_, node.IsNull() ? *key : end_of_scalar(node) - 1) - begin);
    parse();
  }

  std::string text() const override { return text_; }

 private:
  void parse() {
    try {
      root_ = YAML::Load(text_);
    } catch (const YAML::Exception& error) {
      throw InputError("", "line " + std::to_string(error.mark.line + 1), error.msg);
    }
    if (root_.IsDefined() && !root_.IsNull() && !root_.IsMap())
      throw InputError("", "", "expected keys with values");
  }

  // yaml-cpp counts bytes, from 0.
  std::size_t offset(const YAML::Node& node) const {
    return std::min(text_.size(), static_cast<std::size_t>(std::max(0, node.Mark().pos)));
  }

  YAML::Node at_path(std::string_view path) const {
    YAML::Node node = YAML::Clone(root_);
    node.reset(root_);
    for (const std::string& key : keys_of(path)) {
      if (!node.IsMap()) return YAML::Node(YAML::NodeType::Undefined);
      const YAML::Node next = static_cast<const YAML::Node&>(node)[key];
      if (!next) return YAML::Node(YAML::NodeType::Undefined);
      node.reset(next);
    }
    return node;
  }

  std::optional<std::size_t> place_of_key(std::string_view path) const {
    const std::size_t dot = path.rfind('.');
    const YAML::Node table = dot == std::string_view::npos ? root_ : at_path(path.substr(0, dot));
    if (!table || !table.IsMap()) return {};
    const std::string_view key = dot == std::string_view::npos ? path : path.substr(dot + 1);
    for (const auto& member : table)
      if (member.first.Scalar() == key) return offset(member.first);
    return {};
  }

  // Of a null that is written out.
  std::size_t null_size(const YAML::Node& node) const {
    if (!node.IsNull()) return 0;
    for (const std::string_view null : {"null", "Null", "NULL", "~"})
      if (text_.compare(offset(node), null.size(), null) == 0) return null.size();
    return 0;
  }

  // A quoted scalar ends with its quote, a plain one before a comment, the line's end or a flow's comma.
  std::size_t end_of_scalar(const YAML::Node& node) const {
    const std::size_t begin = offset(node);
    const char quote = begin < text_.size() ? text_[begin] : '\n';
    if (quote == '"' || quote == '\'') {
      for (std::size_t at = begin + 1; at < text_.size(); ++at) {
        if (quote == '"' && text_[at] == '\\')
          ++at;
        else if (text_[at] == quote && quote == '\'' && text_[at + 1] == quote)
          ++at;
        else if (text_[at] == quote)
          return at + 1;
      }
    }
    const std::size_t end = begin + node.Scalar().size();
    return std::min(end, text_.size());
  }

  void add(const std::vector<std::string>& keys, const std::string& value) {
    YAML::Node table = root_;
    std::size_t depth = 0;
    while (depth + 1 < keys.size() && table.IsMap()) {
      const YAML::Node next = static_cast<const YAML::Node&>(table)[keys[depth]];
      if (!next || !next.IsMap()) break;
      table.reset(next);
      ++depth;
    }
    std::string indent, lines;
    std::size_t at = text_.size();
    if (table.IsMap() && table.size() > 0) {
      const std::size_t first = offset(table.begin()->first);
      const std::size_t line = text_.rfind('\n', first) + 1;
      indent = text_.substr(line, first - line);
      if (depth > 0) at = behind(table);
    }
    for (std::size_t i = depth; i < keys.size(); ++i) {
      const bool last = i + 1 == keys.size();
      lines += indent + keys[i] + ":" + (last ? " " + value : "") + "\n";
      indent += "  ";
    }
    if (at == text_.size()) end_line(text_), at = text_.size();
    text_.insert(at, lines);
  }

  // Behind the line of the last scalar that a table holds.
  std::size_t behind(const YAML::Node& node) const {
    if (!node.IsMap() && !node.IsSequence())
      return behind_line(text_, std::max<std::size_t>(end_of_scalar(node), 1) - 1);
    std::size_t last = offset(node);
    for (const auto& member : node) last = std::max(last, behind(node.IsMap() ? member.second : member));
    return last;
  }

  std::string text_;
  YAML::Node root_;
};

}  // namespace

std::unique_ptr<ConfigText> yaml_config(std::string text) {
  return std::make_unique<YamlConfig>(std::move(text));
}

}  // namespace stowage
