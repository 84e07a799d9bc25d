#include "tools/program/cli/source_help.h"

#include <fmt/format.h>

#include "converters/downloads/guide.h"
#include "tools/console/bars.h"

namespace feedrate::tools {

std::string source_help(std::size_t columns) {
  constexpr std::size_t indent = 7;
  std::string text =
      wrapped(
          "Which files of a published dataset to get where, and what to run beside them. "
          "Any --to and options of 'feedrate convert' will do. A line that begins with 'try' makes "
          "files of drawn images in the same layout.",
          0, columns) +
      "\n";
  for (const converters::SourceGuide& guide : converters::source_guides()) {
    text += fmt::format("\n{}\n  get  {}\n  from {}\n", guide.name,
                        wrapped(guide.files, indent, columns), guide.where);
    if (!guide.synth.empty()) {
      text += fmt::format("  try  feedrate synth {} --out made\n", guide.synth);
    }
    for (const std::string_view command : guide.commands) text += fmt::format("    {}\n", command);
  }
  return text;
}

}  // namespace feedrate::tools
