#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <optional>

#include "formats/io/file.h"
#include "tools/console/build_info.h"
#include "tools/console/console.h"
#include "tools/program/cli/command.h"
#include "tools/program/cli/help.h"
#include "tools/program/cli/overview.h"
#include "tools/program/cli/page.h"
#include "tools/program/cli/paths.h"
#include "tools/program/cli/topics.h"

namespace feedrate::tools {
using namespace formats;

namespace {

namespace fs = std::filesystem;

struct ManRequest {
  std::string command;
  fs::path out;
};

std::vector<std::string_view> documented_commands() {
  std::vector<std::string_view> names;
  for (const Command* command : commands()) names.push_back(command->name);
  return names;
}

/// Text as roff takes it. Every hyphen is that of an option: a reader may copy it.
std::string roff(std::string_view text) {
  std::string result;
  if (text.starts_with('.') || text.starts_with('\'')) result = "\\&";
  for (const char c : text) {
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
  }
  return result;
}

std::string upper(std::string_view text) {
  std::string letters(text);
  for (char& c : letters) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return letters;
}

std::string bold(std::string_view text) { return fmt::format("\\fB{}\\fR", roff(text)); }

/// "feedrate-convert"
std::string page_name(std::string_view command) { return fmt::format("feedrate-{}", command); }

std::string head(std::string_view name, std::string_view summary) {
  std::string lower(summary);
  lower.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(lower.front())));
  return fmt::format(".TH {} 1 \"\" \"feedrate {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n",
                     roff(upper(name)), build_info().version, roff(name), roff(lower));
}

std::string as_typed(std::string_view lines) { return fmt::format(".nf\n{}.fi\n", lines); }

template <class Lines>
std::string examples(const Lines& lines) {
  std::string text;
  for (const auto& line : lines) text += roff(line) + "\n";
  return ".SH EXAMPLES\n" + as_typed(text);
}

std::string tail(std::string_view see_also) {
  return fmt::format(
      ".SH EXIT STATUS\n.TP\n0\ndone\n.TP\n1\nfailed; a message on stderr says why\n"
      ".TP\n2\nmisused: the arguments are wrong\n.SH SEE ALSO\n{}\n",
      see_also);
}

std::string row_text(const OptionRow& row) {
  std::string names;
  for (const std::string& name : row.names) names += (names.empty() ? "" : ", ") + bold(name);
  if (!row.value.empty()) names += fmt::format(" \\fI{}\\fR", roff(row.value));
  return fmt::format(".TP\n{}\n{}\n", names, roff(full_description(row)));
}

std::string manual(const Command& command) {
  const Page page = page_of(command);
  std::string text = head(page_name(command.name), page.summary);
  text += fmt::format(".SH SYNOPSIS\n{}{}\n.SH DESCRIPTION\n", bold(page.name),
                      roff(page.usage.substr(page.name.size())));
  text += roff(page.description) + "\n";
  for (const std::string& note : page.notes) text += ".PP\n" + roff(note) + "\n";
  std::string_view group;
  bool in_options = false;
  for (const OptionRow& row : page.rows) {
    if (row.argument && group.empty()) text += ".SH ARGUMENTS\n";
    if (!row.argument && !in_options) text += ".SH OPTIONS\n";
    in_options = !row.argument;
    if (in_options && row.group != group) {
      text += fmt::format(".SS {}\n", roff(row.group));
    }
    group = row.group;
    text += row_text(row);
  }
  return text + examples(page.examples) + tail("\\fBfeedrate\\fR(1)");
}

std::string program_page() {
  std::string text = head("feedrate", summary_of_program);
  text +=
      ".SH SYNOPSIS\n.B feedrate\n\\fICOMMAND\\fR …\n.SH DESCRIPTION\n"
      "Loads images for training with an exact number of threads, converts published image "
      "archives "
      "into the formats that trainers read, and trains networks. Measures loading and training, "
      "alone and together, and says how many loader threads and which format keep a trainer fed.\n"
      ".SH COMMANDS\n";
  std::string pages;
  std::optional<Job> job;
  for (const Command* command : commands()) {
    if (job != command->job) text += fmt::format(".SS {}\n", job_heading(command->job));
    job = command->job;
    text += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", roff(page_name(command->name)),
                        roff(command->summary));
    pages +=
        fmt::format("{}\\fB{}\\fR(1)", pages.empty() ? "" : ",\n", roff(page_name(command->name)));
  }
  text +=
      ".SH OPTIONS\n.TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nPrint the commands\n"
      ".TP\n\\fB\\-V\\fR, \\fB\\-\\-version\\fR\nPrint the version, the build and its libraries\n"
      ".SH ENVIRONMENT\n";
  for (const auto& [name, meaning] : variables()) {
    text += fmt::format(".TP\n{}\n{}\n", bold(name), roff(meaning));
  }
  return text + examples(typical_session) + tail(pages);
}

int run_man(const ManRequest& options) {
  if (!options.out.empty()) {
    fs::create_directories(options.out);
    write_text(options.out / "feedrate.1", program_page());
    for (const Command* command : commands()) {
      write_text(options.out / (page_name(command->name) + ".1"), manual(*command));
    }
    return exit_done;
  }
  for (const Command* command : commands()) {
    if (command->name != options.command) continue;
    print(manual(*command));
    return exit_done;
  }
  print(program_page());
  return exit_done;
}

std::function<int()> prepare_man(CLI::App& app) {
  auto options = std::make_shared<ManRequest>();
  auto* command = add_argument(
      app, "COMMAND",
      {.name = "command",
       .sentence = "A command (default: all)",
       .names = documented_commands,
       .check =
           [](std::string_view name) { expect_known("command", name, documented_commands()); }},
      options->command);
  add_output(app,
             {.name = "--out",
              .description = "Write every page into this directory",
              .use = PathUse::fills},
             options->out)
      ->excludes(command);
  return [options] { return run_man(*options); };
}

}  // namespace

extern const Command man_command;
const Command man_command{
    .name = "man",
    .job = Job::shell,
    .summary = "Print the manual page of a command",
    .description =
        R"(Print a manual page as source for man: of a command or, without one, of the program.
Installed packages have these pages already: 'man feedrate-convert'.)",
    .examples = R"(  feedrate man convert | man -l -
  feedrate man --out man1
)",
    .prepare = prepare_man};

}  // namespace feedrate::tools
