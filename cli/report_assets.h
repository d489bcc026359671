// The files of cli/report/, embedded when the program is built.
#pragma once

#include <string_view>

namespace stowage {

extern const std::string_view report_template;  // page.html, with a mark for each of the others
extern const std::string_view report_style;
extern const std::string_view report_script;  // the scripts, one after the other

}  // namespace stowage
