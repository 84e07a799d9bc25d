#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "tools/console/console.h"
#include "tools/program/cli/command.h"
#include "tools/program/cli/help.h"
#include "tools/program/cli/page.h"
#include "tools/program/cli/topics.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using OptionPlace = OptionRow::Place;

std::string command_names() {
  std::string names;
  for (const Command* command : commands()) names.append(command->name).append(" ");
  return names;
}

std::string topic_names() {
  std::string names = "topics";
  for (const Topic& topic : topics()) names.append(" ").append(topic.name);
  return names;
}

/// `text` with a backslash before each of `special`.
std::string escaped(std::string_view text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

/// In single quotes, for bash and zsh.
std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text) c == '\'' ? result.append("'\\''") : result.append(1, c);
  return result + "'";
}

bool takes_value(const OptionRow& row) { return row.argument || !row.value.empty(); }

// ---- bash ----

/// What _feedrate_values prints.
std::string bash_values(const OptionRow& row) {
  if (row.place == OptionPlace::file) return "files";
  if (row.place == OptionPlace::directory) return "directories";
  if (row.words.empty()) return "free";
  return fmt::format("{} {}", row.is_list ? "list" : "words", fmt::join(row.words, " "));
}

constexpr std::string_view bash_head =
    R"bash(# Completion of feedrate in bash, printed by 'feedrate completion bash'.

# What the value of COMMAND:OPTION may be, or the argument of COMMAND:NUMBER. Fails for a flag.
_feedrate_values() {
  case $1 in
)bash";

constexpr std::string_view bash_middle = R"bash(    *) return 1 ;;
  esac
}

_feedrate_options() {
  case $1 in
)bash";

constexpr std::string_view bash_tail = R"bash(  esac
}

_feedrate() {
  local words=() current command asked='' argument=1 values before='' i
  # Bash breaks words at ':' and '=', too: "--network=resnet50:v1" is five of them.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    if ((i > 0)) && [[ ${COMP_WORDS[i]} == [:=]* || ${words[-1]} == *[:=] ]]; then
      words[-1]+=${COMP_WORDS[i]}
    else
      words+=("${COMP_WORDS[i]}")
    fi
  done
  current=${words[-1]} command=${words[1]}
  COMPREPLY=()
  if ((${#words[@]} == 2)) || [[ $command == help ]]; then
    [[ $command == help ]] && values=$_feedrate_topics
    mapfile -t COMPREPLY < <(compgen -W "$_feedrate_commands $values" -- "$current")
    return
  fi
  for ((i = 2; i < ${#words[@]} - 1; i++)); do
    if [[ ${words[i]} != -* ]]; then
      ((argument++))
    elif _feedrate_values "$command:${words[i]}" >/dev/null; then
      asked=${words[i++]}
      ((i < ${#words[@]} - 1)) && asked='' # it has its value already
    fi
  done
  if [[ -z $asked && $current == --*=* ]]; then
    asked=${current%%=*} current=${current#*=}
  elif [[ -z $asked && $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_feedrate_options "$command")" -- "$current")
    return
  fi
  values=$(_feedrate_values "$command:${asked:-$argument}")
  case $values in
    files)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      ;;
    directories)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -d -- "$current")
      ;;
    words* | list*)
      [[ $values == list* && $current == *,* ]] && before=${current%,*},
      mapfile -t COMPREPLY < <(compgen -P "$before" -W "${values#* }" -- "${current#"$before"}")
      ;;
  esac
  # It inserts the reply in place of what follows the last break.
  [[ $current == *:* && $COMP_WORDBREAKS == *:* ]] && COMPREPLY=("${COMPREPLY[@]#"${current%:*}:"}")
}

complete -F _feedrate feedrate
)bash";

std::string bash_completion() {
  std::string values, options;
  for (const Command* command : commands()) {
    unsigned argument = 0;
    std::vector<std::string> names;
    for (const OptionRow& row : page_of(*command).rows) {
      if (row.argument) {
        const std::string place = row.repeats ? "[0-9]*" : std::to_string(++argument);
        values += fmt::format("    {}:{}) echo '{}' ;;\n", command->name, place, bash_values(row));
        continue;
      }
      names.insert(names.end(), row.names.begin(), row.names.end());
      if (!takes_value(row)) continue;
      values += fmt::format("    {}:{}) echo '{}' ;;\n", command->name, row.names.back(),
                            bash_values(row));
    }
    options += fmt::format("    {}) echo '{}' ;;\n", command->name, fmt::join(names, " "));
  }
  return fmt::format(
      "{}{}{}{}{}\n_feedrate_commands='{}help --help --version'\n_feedrate_topics='{}'\n",
      bash_head, values, bash_middle, options, bash_tail, command_names(), topic_names());
}

// ---- zsh ----

/// The third part of a specification of _arguments.
std::string zsh_action(const OptionRow& row) {
  if (row.place == OptionPlace::file) return "_files";
  if (row.place == OptionPlace::directory) return "_files -/";
  if (row.words.empty()) return " ";
  const std::string words = escaped(fmt::format("{}", fmt::join(row.words, " ")), ":");
  return row.is_list ? "_sequence compadd - " + words : "(" + words + ")";
}

std::string zsh_row(const OptionRow& row, unsigned argument) {
  if (row.argument) {
    const std::string place = row.repeats ? "*" : std::to_string(argument);
    return in_quotes(fmt::format("{}:{}:{}", place, row.names.front(), zsh_action(row)));
  }
  std::string line;
  for (const std::string& name : row.names) {
    if (!line.empty()) line += " ";
    const std::string about = fmt::format("[{}]", escaped(row.description, "\\[]:"));
    const std::string value =
        takes_value(row) ? fmt::format(":{}:{}", escaped(row.value, "\\:"), zsh_action(row)) : "";
    line += in_quotes(name + (takes_value(row) ? "=" : "") + about + value);
  }
  return line;
}

std::string zsh_completion() {
  std::string names, cases;
  for (const Command* command : commands()) {
    names += "    " +
             in_quotes(fmt::format("{}:{}", command->name, escaped(command->summary, ":"))) + "\n";
    cases += fmt::format("    {})\n      _arguments -S", command->name);
    unsigned argument = 0;
    for (const OptionRow& row : page_of(*command).rows) {
      if (row.argument) ++argument;
      cases += " \\\n        " + zsh_row(row, argument);
    }
    cases += "\n      ;;\n";
  }
  return fmt::format(R"zsh(#compdef feedrate
# Completion of feedrate in zsh, printed by 'feedrate completion zsh'.

_feedrate() {{
  local -a commands topics
  commands=(
{}  )
  topics=({})
  if ((CURRENT == 2)) || [[ $words[2] == help ]]; then
    _describe command commands
    [[ $words[2] == help ]] && _describe topic topics
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
{}  esac
}}

if [[ $funcstack[1] == _feedrate ]]; then
  _feedrate "$@"
else
  compdef _feedrate feedrate
fi
)zsh",
                     names, topic_names(), cases);
}

// ---- fish ----

std::string fish_quoted(std::string_view text) { return "'" + escaped(text, "\\'") + "'"; }

std::string fish_values(const OptionRow& row) {
  if (row.place == OptionPlace::file) return " -r -F";
  if (row.place == OptionPlace::directory) return " -x -a '(__fish_complete_directories)'";
  const std::string words = fmt::format("{}", fmt::join(row.words, " "));
  if (words.empty()) return " -x";
  if (!row.is_list) return " -x -a " + fish_quoted(words);
  return " -x -a " +
         fish_quoted(fmt::format("(__fish_complete_list , 'string split \" \" \"{}\"')", words));
}

std::string fish_completion() {
  std::string text =
      "# Completion of feedrate in fish, printed by 'feedrate completion fish'.\n"
      "complete -c feedrate -f\n";
  for (const Command* command : commands()) {
    text += fmt::format("complete -c feedrate -n __fish_use_subcommand -a {} -d {}\n",
                        command->name, fish_quoted(command->summary));
    for (const OptionRow& row : page_of(*command).rows) {
      text +=
          fmt::format("complete -c feedrate -n '__fish_seen_subcommand_from {}'", command->name);
      if (row.argument) {
        text +=
            row.place == OptionPlace::file
                ? " -F"
                : fmt::format(" -a {}", fish_quoted(fmt::format("{}", fmt::join(row.words, " "))));
      }
      for (const std::string& name : row.names) {
        if (row.argument) break;
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!row.argument && takes_value(row)) text += fish_values(row);
      text += fmt::format(" -d {}\n", fish_quoted(row.description));
    }
  }
  return text +
         fmt::format("complete -c feedrate -n '__fish_seen_subcommand_from help' -a '{}{}'\n",
                     command_names(), topic_names());
}

int run_completion(std::string_view shell) {
  print(shell == "bash"  ? bash_completion()
        : shell == "zsh" ? zsh_completion()
                         : fish_completion());
  return exit_done;
}

constexpr std::string_view shells[] = {"bash", "zsh", "fish"};

std::function<int()> prepare_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  add_argument(app, "SHELL", {.name = "shell", .sentence = "bash, zsh or fish", .words = shells},
               *shell)
      ->required();
  return [shell] { return run_completion(*shell); };
}

}  // namespace

extern const Command completion_command;
const Command completion_command{
    .name = "completion",
    .job = Job::shell,
    .summary = "Print shell completion for bash, zsh or fish",
    .description =
        R"(Print a script with which bash, zsh or fish completes commands, options, names and files.
Installed packages already have it.)",
    .examples = R"(  source <(feedrate completion bash)
  feedrate completion fish > ~/.config/fish/completions/feedrate.fish
)",
    .prepare = prepare_completion};

}  // namespace feedrate::tools
