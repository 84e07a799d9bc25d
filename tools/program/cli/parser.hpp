#pragma once
// The parser of a command's options, with what we know of each option beside what CLI11 knows.

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "tools/program/cli/paths.h"

namespace feedrate::tools {

struct OptionFacts {
  std::string unit;                // what help calls the value: "FILE"; "" for a flag
  std::vector<std::string> words;  // values to offer
  std::string expected = "a value";
};

class Parser : public CLI::App {
 public:
  using CLI::App::App;
  std::map<const CLI::Option*, OptionFacts> facts;    // of options that rows declared
  std::map<const CLI::Option*, std::string> details;  // sentences that only --help has
  std::vector<PathOption> paths;                      // of options that name paths
  bool runs_command = false;                          // what follows '--' is another program's
  std::vector<std::string> command;                   // that, as it was typed
};

/// Of any option of an app that prepared() made.
inline OptionFacts facts_of(const CLI::App& app, const CLI::Option& option) {
  const auto& known = static_cast<const Parser&>(app).facts;
  const auto found = known.find(&option);
  return found == known.end() ? OptionFacts{.unit = option.get_type_name(), .words = {}}
                              : found->second;
}

/// Why an empty value of that option is refused.
inline std::string empty_refusal(const CLI::App& app, const CLI::Option& option) {
  return "expected " + facts_of(app, option).expected + ", found ''";
}

}  // namespace feedrate::tools
