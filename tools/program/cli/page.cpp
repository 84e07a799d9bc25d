#include "tools/program/cli/page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "formats/base/text.h"
#include "tools/console/bars.h"
#include "tools/program/cli/help.h"
#include "tools/program/cli/parser.hpp"

namespace feedrate::tools {
using namespace formats;

namespace {

constexpr std::size_t name_columns = 26;

OptionRow::Place place_of(const CLI::Option& option, std::string_view type) {
  // An argument that is no name is a path; its type says nothing.
  if (option.get_positional() || type.starts_with("FILE") || type.starts_with("PATH")) {
    return OptionRow::Place::file;
  }
  return type.ends_with("DIR") ? OptionRow::Place::directory : OptionRow::Place::none;
}

OptionRow row_of(const CLI::App& app, const CLI::Option& option) {
  const OptionFacts facts = facts_of(app, option);
  OptionRow row;
  row.argument = option.get_positional();
  row.required = option.get_required();
  row.words = facts.words;
  row.is_list = option.get_delimiter() != '\0';
  const bool takes_value = option.get_items_expected_max() > 0;
  const bool several = option.get_items_expected_max() > 1 && !row.is_list;
  if (row.argument) {
    row.group = "Arguments";
    row.names = {option.get_name()};
    row.repeats = several;
  } else {
    row.group = option.get_group();
    for (const std::string& name : option.get_snames()) row.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) row.names.push_back("--" + name);
    if (takes_value) row.value = facts.unit + (several ? "…" : "");
  }
  if (takes_value && row.words.empty()) row.place = place_of(option, row.value);
  const std::string value = option.get_default_str();
  row.description =
      option.get_description() + (value.empty() ? "" : fmt::format(" (default {})", value));
  return row;
}

/// Arguments first, help last; groups are in the order in which their first options were declared.
std::vector<OptionRow> rows_of(const CLI::App& app) {
  std::vector<OptionRow> rows;
  for (const CLI::Option* option : app.get_options()) {
    if (option != app.get_help_ptr()) rows.push_back(row_of(app, *option));
  }
  rows.push_back(row_of(app, *app.get_help_ptr()));
  std::vector<std::string> groups{"Arguments"};
  for (const OptionRow& row : rows) {
    if (std::ranges::find(groups, row.group) == groups.end()) groups.push_back(row.group);
  }
  std::ranges::stable_sort(rows, {}, [&](const OptionRow& row) {
    return std::ranges::find(groups, row.group) - groups.begin();
  });
  return rows;
}

/// The usage line names what is required.
std::string usage_of(const std::string& program, const std::vector<OptionRow>& rows) {
  std::string usage = program;
  for (const OptionRow& row : rows) {
    if (!row.argument) continue;
    const std::string word = row.names.front() + (row.repeats ? "…" : "");
    usage += row.required ? " " + word : " [" + word + "]";
  }
  for (const OptionRow& row : rows) {
    if (!row.argument && row.required) usage += fmt::format(" {} {}", row.names.back(), row.value);
  }
  return usage + " [options]";
}

/// Joins the lines of each paragraph; lines that begin with a blank stay as they are.
std::vector<std::string> paragraphs_of(std::string_view text) {
  std::vector<std::string> paragraphs;
  bool open = false;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const bool preformatted = line.starts_with(' ');
    if (open && !preformatted && !line.empty()) {
      paragraphs.back().append(" ").append(line);
    } else if (!line.empty()) {
      paragraphs.emplace_back(line);
    }
    open = !line.empty() && !preformatted;
  }
  return paragraphs;
}

std::vector<std::string> examples_of(std::string_view text) {
  std::vector<std::string> lines;
  bool continues = false;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const bool ends = !line.ends_with('\\');
    if (!ends) line.remove_suffix(1);
    continues ? lines.back().append(line) : lines.emplace_back(line);
    continues = !ends;
  }
  return lines;
}

std::string row_text(const OptionRow& row, std::size_t columns) {
  std::string left = fmt::format("  {}", fmt::join(row.names, ","));
  if (!row.value.empty()) left += " " + row.value;
  if (row.repeats) left += "…";
  const std::size_t taken = columns_of(left);
  left += taken < name_columns ? std::string(name_columns - taken, ' ')
                               : "\n" + std::string(name_columns, ' ');
  return left + wrapped(row.description, name_columns, columns) + "\n";
}

}  // namespace

Page page_of(const Command& command) {
  Page page;
  page.name = fmt::format("feedrate {}", command.name);
  page.summary = command.summary;
  page.rows = rows_of(*prepared(command).app);
  page.usage = usage_of(page.name, page.rows);
  page.paragraphs = paragraphs_of(command.description);
  page.examples = examples_of(command.examples);
  return page;
}

std::string example_text(std::string_view example, std::size_t columns) {
  constexpr std::size_t continuation = 2;  // " \"
  std::string text = "  " + wrapped(example, 6, columns - continuation) + "\n";
  for (std::size_t at = text.find("\n "); at != std::string::npos; at = text.find("\n ", at + 3)) {
    text.insert(at, " \\");
  }
  return text;
}

std::string help_text(const Page& page, std::size_t columns) {
  std::string text;
  for (const std::string& paragraph : page.paragraphs) {
    const bool preformatted = paragraph.starts_with(' ');
    if (!text.empty() && !preformatted) text += "\n";
    text += (preformatted ? paragraph : wrapped(paragraph, 0, columns)) + "\n";
  }
  text += "\n" + wrapped("Usage: " + page.usage, 2, columns) + "\n";
  std::string_view group;
  for (const OptionRow& row : page.rows) {
    if (row.group != group) text += "\n" + wrapped(row.group + ":", 0, columns) + "\n";
    group = row.group;
    text += row_text(row, columns);
  }
  text += "\nExamples:\n";
  for (const std::string& example : page.examples) text += example_text(example, columns);
  return text;
}

}  // namespace feedrate::tools
