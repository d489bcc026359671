#include "cli/option_list.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace stowage {
namespace {

// "keep|recompute", or "{free,settings}" as CLI11 has it after the type.
std::vector<std::string> choices_in(const std::string& type) {
  std::vector<std::string> choices;
  const std::size_t brace = type.find('{');
  const std::string list =
      brace == std::string::npos ? type : type.substr(brace + 1, type.find('}') - brace - 1);
  const char between = brace == std::string::npos ? '|' : ',';
  if (list.find(between) == std::string::npos) return choices;
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t to = std::min(list.find(between, from), list.size());
    choices.push_back(list.substr(from, to - from));
    from = to + 1;
  }
  return choices;
}

ListedOption listed(const CLI::Option& option) {
  ListedOption entry;
  for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  if (option.get_items_expected_max() > 0) entry.argument = option.get_type_name();
  entry.choices = choices_in(entry.argument);
  if (const std::size_t colon = entry.argument.find(':'); colon != std::string::npos)
    entry.argument.resize(colon);
  entry.help = option.get_description();
  if (entry.names.empty()) entry.positional = option.get_name(true);
  entry.required = option.get_required();
  return entry;
}

std::string example_of(const CLI::App& command) {
  const std::string footer = command.get_footer();
  const std::size_t begin = footer.find("\n  ");
  return begin == std::string::npos ? "" : footer.substr(begin + 3);
}

}  // namespace

std::vector<ListedCommand> listed_commands(const CLI::App& program) {
  std::vector<ListedCommand> commands;
  for (const CLI::App* app : program.get_subcommands([](const CLI::App*) { return true; })) {
    ListedCommand command{app->get_name(), app->get_description(), example_of(*app), {}};
    for (const CLI::Option* option : app->get_options()) command.options.push_back(listed(*option));
    commands.push_back(std::move(command));
  }
  return commands;
}

}  // namespace stowage
