// The page of `stowage report`: one HTML file that needs nothing else.
#pragma once

#include <string>
#include <string_view>

#include "cli/report_data.h"

namespace stowage {

// `text` as it can stand between tags.
std::string html_text(std::string_view text);
// A JSON text as it can stand inside <script>: nothing in it ends the element or opens a comment.
std::string script_json(std::string_view json);

std::string report_page(const Report& report);

}  // namespace stowage
