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
  std::string description;         // ends with the default
  std::vector<std::string> words;  // some or all values that it accepts
  Place place = Place::none;       // its value is a path
  bool argument = false;
  bool required = false;
  bool repeats = false;  // an argument that takes several words
  bool is_list = false;  // takes several values with commas between them
};

/// A heading, its paragraphs and its rows.
struct Page {
  std::string name;  // "feedrate convert"
  std::string summary;
  std::string usage;                    // "feedrate convert SOURCE …", in one line
  std::vector<std::string> paragraphs;  // one line each; preformatted lines begin with a blank
  std::vector<OptionRow> rows;          // in the order of help
  std::vector<std::string> examples;    // one command line each, without continuations
};

Page page_of(const Command& command);

/// Of the whole program.
inline constexpr std::string_view summary_of_program =
    "feedrate: converts image datasets, loads them, trains networks, and measures the rates.";
inline constexpr std::string_view typical_session[] = {
    "feedrate convert mnist archives --to lmdb --split all --out data/lmdb",
    "feedrate verify data/lmdb/train",
    "feedrate train data/lmdb/train --val data/lmdb/test --network lenet --epochs 1",
    "feedrate bench data/lmdb/train --network lenet --threads 0,1,2,4 --out results.jsonl",
    "feedrate report results.jsonl --html report.html"};

/// An example, indented; too long a line is continued as a shell allows it.
std::string example_text(std::string_view example, std::size_t columns);
/// The text of --help, wrapped to `columns`.
std::string help_text(const Page& page, std::size_t columns);

}  // namespace feedrate::tools
