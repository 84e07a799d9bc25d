#include "tools/program/cli/page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <sstream>
#include <utility>

#include "formats/base/text.h"
#include "tools/console/bars.h"
#include "tools/program/cli/groups.h"
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
    row.names = {option.get_name()};
    row.repeats = several;
  } else {
    for (const std::string& name : option.get_snames()) row.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) row.names.push_back("--" + name);
    if (takes_value) row.value = facts.unit + (several ? "…" : "");
  }
  if (takes_value && row.words.empty()) row.place = place_of(option, row.value);
  const std::string value = option.get_default_str();
  row.description =
      option.get_description() + (value.empty() ? "" : fmt::format(" (default {})", value));
  const auto& details = static_cast<const Parser&>(app).details;
  if (const auto found = details.find(&option); found != details.end()) row.detail = found->second;
  row.group = group_of(row.names.back());
  return row;
}

/// The words of a text, in their order.
std::vector<std::string> words_of(std::string_view text) {
  std::istringstream stream{std::string(text)};
  return {std::istream_iterator<std::string>(stream), {}};
}

/// Marks the options of -h and moves them to the front.
void gather_common(const Command& command, std::vector<OptionRow>& rows) {
  const std::vector<std::string> wanted = words_of(command.common);
  for (OptionRow& row : rows) {
    if (row.argument || row.group == help_group) {
      row.common = true;
    } else if (wanted.empty() && row.group != server_group) {
      row.common = true;
      row.group = only_group;
    } else if (std::ranges::find(wanted, row.names.back()) != wanted.end()) {
      row.common = true;
      row.group = common_group;
    }
  }
  std::ranges::stable_sort(rows, {}, [&](const OptionRow& row) {
    if (row.argument) return std::pair<std::size_t, std::ptrdiff_t>();
    const std::string& name = row.names.back();
    std::ptrdiff_t place = 0;
    if (row.group == common_group) place = std::ranges::find(wanted, name) - wanted.begin();
    if (!row.common) place = static_cast<std::ptrdiff_t>(place_in_group(name));
    return std::pair(place_of_group(row.group), place);
  });
}

/// Adds the command's entries "--option: sentences" to its rows.
void add_details(const Command& command, std::vector<OptionRow>& rows) {
  std::string* detail = nullptr;
  for (std::string_view text = command.details; !text.empty();) {
    std::string_view line = take_line(text);
    const std::string_view first = line.substr(0, line.find(' '));
    if (first.starts_with("--") && first.ends_with(':')) {
      const std::string_view name = first.substr(0, first.size() - 1);
      const auto row =
          std::ranges::find(rows, name, [](const OptionRow& one) { return one.names.back(); });
      if (row == rows.end()) throw Error(join("help explains an unknown option: ", name));
      detail = &row->detail;
      line.remove_prefix(std::min(first.size() + 1, line.size()));
    }
    if (!detail->empty()) *detail += ' ';
    *detail += line;
  }
}

std::vector<OptionRow> rows_of(const Command& command, const CLI::App& app) {
  std::vector<OptionRow> rows;
  for (const CLI::Option* option : app.get_options()) rows.push_back(row_of(app, *option));
  add_details(command, rows);
  gather_common(command, rows);
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

std::string one_line(std::string_view text) {
  return fmt::format("{}", fmt::join(words_of(text), " "));
}

/// The paragraphs of a text, which empty lines divide, in one line each.
std::vector<std::string> paragraphs_of(std::string_view text) {
  std::vector<std::string> paragraphs;
  for (bool open = false; !text.empty();) {
    const std::string_view line = take_line(text);
    if (open && !line.empty()) {
      paragraphs.back().append(" ").append(line);
    } else if (!line.empty()) {
      paragraphs.emplace_back(line);
    }
    open = !line.empty();
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

std::string row_text(const OptionRow& row, std::string_view description, std::size_t columns) {
  std::string left = fmt::format("  {}", fmt::join(row.names, ","));
  if (!row.value.empty()) left += " " + row.value;
  if (row.repeats) left += "…";
  const std::size_t taken = columns_of(left);
  left += taken < name_columns ? std::string(name_columns - taken, ' ')
                               : "\n" + std::string(name_columns, ' ');
  return left + wrapped(description, name_columns, columns) + "\n";
}

std::string head_text(const Page& page, std::size_t columns) {
  return wrapped(page.description, 0, columns) + "\n\n" +
         wrapped("Usage: " + page.usage, 2, columns) + "\n";
}

/// The rows that `shown` finds a description for, below their headings.
template <class Shown>
std::string rows_text(const Page& page, std::size_t columns, const Shown& shown) {
  std::string text;
  std::string_view group;
  for (const OptionRow& row : page.rows) {
    const std::optional<std::string> description = shown(row);
    if (!description) continue;
    if (row.group != group) text += fmt::format("\n{}:\n", row.group);
    group = row.group;
    text += row_text(row, *description, columns);
  }
  return text;
}

std::string examples_text(std::span<const std::string> examples, std::size_t columns) {
  std::string text = "\nExamples:\n";
  for (const std::string& example : examples) text += example_text(example, columns);
  return text;
}

}  // namespace

Page page_of(const Command& command) {
  Page page;
  page.name = fmt::format("feedrate {}", command.name);
  page.summary = command.summary;
  const auto app = prepared(command).app;
  page.rows = rows_of(command, *app);
  page.usage = static_cast<const Parser&>(*app).runs_command ? page.name + " [options] -- COMMAND…"
                                                             : usage_of(page.name, page.rows);
  page.description = one_line(command.description);
  page.notes = paragraphs_of(command.notes);
  page.examples = examples_of(command.examples);
  return page;
}

std::string example_text(std::string_view example, std::size_t columns) {
  constexpr std::size_t continuation = 2;  // " \"
  constexpr char bound = '\x1f';           // a blank between an option and its value
  std::string words(example);
  for (std::size_t at = words.find(" --"); at != std::string::npos;
       at = words.find(" --", at + 1)) {
    const std::size_t end = words.find(' ', at + 1);
    if (end != std::string::npos && end > at + 3 && words[end + 1] != '-') words[end] = bound;
  }
  std::string text = "  " + wrapped(words, 6, columns - continuation) + "\n";
  std::ranges::replace(text, bound, ' ');
  for (std::size_t at = text.find("\n "); at != std::string::npos; at = text.find("\n ", at + 3)) {
    text.insert(at, " \\");
  }
  return text;
}

std::string full_description(const OptionRow& row) {
  return row.detail.empty() ? row.description : row.description + ". " + row.detail;
}

std::string help_text(const Page& page, std::size_t columns) {
  std::string text = head_text(page, columns) + rows_text(page, columns, [](const OptionRow& row) {
                       return std::optional(full_description(row));
                     });
  for (const std::string& note : page.notes) text += "\n" + wrapped(note, 0, columns) + "\n";
  return text + examples_text(page.examples, columns);
}

std::string brief_text(const Page& page, std::size_t columns) {
  const auto shown = [](const OptionRow& row) {
    return row.common ? std::optional(row.description) : std::nullopt;
  };
  constexpr std::size_t few = 2;
  return head_text(page, columns) + rows_text(page, columns, shown) +
         examples_text(std::span(page.examples).first(std::min(few, page.examples.size())),
                       columns);
}

}  // namespace feedrate::tools
