// Completion for shells: commands, their options, and the words that an option takes.
#pragma once

#include <string>
#include <vector>

#include "cli/option_list.h"

namespace stowage {

std::string bash_completion(const std::vector<ListedCommand>& commands);
std::string zsh_completion(const std::vector<ListedCommand>& commands);
std::string fish_completion(const std::vector<ListedCommand>& commands);

// A manual page for man(1), from the same list.
std::string manual_page(const std::vector<ListedCommand>& commands, const std::string& version);

}  // namespace stowage
