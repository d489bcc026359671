#include "cli/completion_script.h"

#include <initializer_list>
#include <utility>

namespace stowage {
namespace {

// Every character of `text` that is one of `from`, replaced.
std::string replaced(const std::string& text, std::initializer_list<std::pair<char, const char*>> by) {
  std::string result;
  for (const char c : text) {
    std::string with(1, c);
    for (const auto& [from, to] : by)
      if (c == from) with = to;
    result += with;
  }
  return result;
}

// Inside single quotes of a shell of the Bourne family.
std::string quoted(const std::string& text) {
  return replaced(text, {{'\'', "'\\''"}});
}

std::string spaced(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<std::string> names_of(const std::vector<ListedCommand>& commands) {
  std::vector<std::string> names;
  for (const ListedCommand& command : commands) names.push_back(command.name);
  return names;
}

// '--policy[What becomes of activations]:keep|recompute:(keep recompute)'
std::string zsh_argument(const ListedOption& option, const std::string& name) {
  const std::string help = replaced(quoted(option.help), {{'[', "\\["}, {']', "\\]"}, {':', "\\:"}});
  std::string text = "'*" + name + "[" + help + "]";
  if (!option.argument.empty()) {
    const bool file = option.argument == "FILE" || option.argument == "FOLDER";
    text += ":" + quoted(option.argument) + ":" +
            (option.choices.empty() ? file ? "_files" : "" : "(" + spaced(option.choices) + ")");
  }
  return text + "'";
}

// As roff takes it: no line begins with a control character, and a minus sign is one.
std::string roff(const std::string& text) {
  const std::string plain = replaced(text, {{'\\', "\\e"}, {'-', "\\-"}});
  return plain.starts_with('.') || plain.starts_with('\'') ? "\\&" + plain : plain;
}

std::string manual_entry(const ListedOption& option) {
  std::string text = ".TP\n";
  if (!option.positional.empty()) {
    text += "\\fI" + roff(option.positional) + "\\fR";
  } else {
    for (std::size_t i = 0; i < option.names.size(); ++i)
      text += (i ? ", " : "") + ("\\fB" + roff(option.names[i]) + "\\fR");
    if (!option.argument.empty()) text += " \\fI" + roff(option.argument) + "\\fR";
  }
  return text + (option.required ? " (required)" : "") + "\n" + roff(option.help) + "\n";
}

}  // namespace

std::string bash_completion(const std::vector<ListedCommand>& commands) {
  std::string choices, options;
  for (const ListedCommand& command : commands) {
    std::vector<std::string> names;
    for (const ListedOption& option : command.options)
      for (const std::string& name : option.names) {
        names.push_back(name);
        if (!option.choices.empty())
          choices += "    " + command.name + ":" + name + ") words='" + spaced(option.choices) + "' ;;\n";
      }
    options += "    " + command.name + ") words='" + spaced(names) + "' ;;\n";
  }
  return "# bash completion for stowage: put `source <(stowage completion bash)` into ~/.bashrc\n"
         "_stowage() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=''\n"
         "  if ((COMP_CWORD == 1)); then\n"
         "    COMPREPLY=($(compgen -W '" +
         spaced(names_of(commands)) +
         "' -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  case ${COMP_WORDS[1]}:$before in\n" +
         choices +
         "  esac\n"
         "  if [[ -z $words && $current == -* ]]; then\n"
         "    case ${COMP_WORDS[1]} in\n" +
         options +
         "    esac\n"
         "  fi\n"
         "  if [[ -n $words ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  else\n"
         "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F _stowage stowage\n";
}

std::string zsh_completion(const std::vector<ListedCommand>& commands) {
  std::string titles, cases;
  for (const ListedCommand& command : commands) {
    titles += "    '" + command.name + ":" + replaced(quoted(command.summary), {{':', "\\:"}}) + "'\n";
    cases += "    " + command.name + ")\n      _arguments";
    for (const ListedOption& option : command.options)
      for (const std::string& name : option.names) cases += " \\\n        " + zsh_argument(option, name);
    cases += " \\\n        '*:file:_files' ;;\n";
  }
  return "#compdef stowage\n"
         "# zsh completion for stowage: put `source <(stowage completion zsh)` into ~/.zshrc, after "
         "compinit\n"
         "_stowage() {\n"
         "  local -a commands=(\n" +
         titles +
         "  )\n"
         "  if ((CURRENT == 2)); then\n"
         "    _describe command commands\n"
         "    return\n"
         "  fi\n"
         "  shift words\n"
         "  ((CURRENT--))\n"
         "  case $words[1] in\n" +
         cases +
         "  esac\n"
         "}\n"
         "compdef _stowage stowage\n";
}

std::string fish_completion(const std::vector<ListedCommand>& commands) {
  const auto text = [](const std::string& plain) {
    return "'" + replaced(plain, {{'\\', "\\\\"}, {'\'', "\\'"}}) + "'";
  };
  std::string script =
      "# fish completion for stowage: stowage completion fish > ~/.config/fish/completions/stowage.fish\n";
  for (const ListedCommand& command : commands)
    script += "complete -c stowage -f -n __fish_use_subcommand -a " + command.name + " -d " +
              text(command.summary) + "\n";
  for (const ListedCommand& command : commands)
    for (const ListedOption& option : command.options) {
      if (option.names.empty()) continue;
      script += "complete -c stowage -n '__fish_seen_subcommand_from " + command.name + "'";
      for (const std::string& name : option.names)
        script += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.choices.empty())
        script += " -x -a " + text(spaced(option.choices));
      else if (!option.argument.empty())
        script += " -r";
      script += " -d " + text(option.help) + "\n";
    }
  return script;
}

std::string manual_page(const std::vector<ListedCommand>& commands, const std::string& version) {
  std::string page =
      ".TH STOWAGE 1 \"\" \"stowage " + roff(version) +
      "\"\n.SH NAME\nstowage \\- predict, tune and carry out checkpointing and offload for PyTorch training\n"
      ".SH SYNOPSIS\n.B stowage\n\\fICOMMAND\\fR [\\fIOPTION\\fR...]\n"
      ".SH EXIT STATUS\n0: done. 1: the answer is no: it does not fit, it differs. 2: bad input.\n"
      ".SH COMMANDS\n";
  for (const ListedCommand& command : commands) {
    page += ".SS stowage " + roff(command.name) + "\n" + roff(command.summary) + ".\n";
    for (const ListedOption& option : command.options) page += manual_entry(option);
    page += ".PP\nExample:\n.PP\n.nf\n" + roff(command.example) + "\n.fi\n";
  }
  return page;
}

}  // namespace stowage
