#include "cli/report_page.h"

#include "cli/report_assets.h"
#include "traces/error.h"

namespace stowage {
namespace {

// Copies a template, with text in the place of its marks. What was filled in is not looked through again.
class Filling {
 public:
  explicit Filling(std::string_view form) : rest_(form) {}

  // Marks are filled in the order in which the template has them.
  Filling& fill(std::string_view mark, std::string_view with) {
    const std::size_t at = rest_.find(mark);
    if (at == std::string_view::npos) throw DefectError("the report's template lacks " + std::string(mark));
    text_.append(rest_.substr(0, at)).append(with);
    rest_.remove_prefix(at + mark.size());
    return *this;
  }
  std::string text() const { return text_ + std::string(rest_); }

 private:
  std::string_view rest_;
  std::string text_;
};

std::string answer_html(const std::vector<std::string>& sentences) {
  std::string html;
  for (std::size_t i = 0; i < sentences.size(); ++i)
    html += (i == 0 ? "<p class=\"answer\">" : "<p>") + html_text(sentences[i]) + "</p>\n";
  return html;
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string script_json(std::string_view json) {
  std::string text;
  for (const char c : json) {
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  }
  return text;
}

std::string report_page(const Report& report) {
  const std::string name = html_text(report.name.empty() ? "a training step" : report.name);
  return Filling(report_template)
      .fill("@title@", name)
      .fill("@style@", report_style)
      .fill("@name@", name)
      .fill("@answer@", answer_html(report.answer))
      .fill("@data@", script_json(report_data(report)))
      .fill("@script@", report_script)
      .text();
}

}  // namespace stowage
