#pragma once
// What a command's help says, as tables: --help, the manual page and the completion of a shell are
// made from them. Pure but for reading the options that a command declares.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/program/cli/command.h"

namespace feedrate::tools {

/// An option or an argument.
struct OptionRow {
  enum class Place : std::uint8_t { none, file, directory };

  std::string group;               // the heading that it stands under
  std::vector<std::string> names;  // "--threads"; "-h" and "--help"; of an argument: "PATH"
  std::string value;               // "N", "FILE…"; "" for a flag
  std::string description;         // a sentence, and the default
  std::string detail;              // more sentences, for --help and man; may be empty
  std::vector<std::string> words;  // some or all values that it accepts
  Place place = Place::none;       // its value is a path
  bool argument = false;
  bool common = false;  // -h shows it
  bool required = false;
  bool repeats = false;  // an argument that takes several words
  bool is_list = false;  // takes several values with commas between them
};

struct Page {
  std::string name;  // "feedrate convert"
  std::string summary;
  std::string usage;  // "feedrate convert SOURCE …", in one line
  std::string description;
  std::vector<OptionRow> rows;        // in the order of --help
  std::vector<std::string> notes;     // one line each
  std::vector<std::string> examples;  // one command line each, without continuations
};

Page page_of(const Command& command);

/// The description of an option, with its details.
std::string full_description(const OptionRow& row);
/// An example, indented; too long a line is continued as a shell allows it.
std::string example_text(std::string_view example, std::size_t columns);
/// The text of --help, wrapped to `columns`.
std::string help_text(const Page& page, std::size_t columns);
/// The text of -h: the common options without details, and two examples.
std::string brief_text(const Page& page, std::size_t columns);

}  // namespace feedrate::tools
