#pragma once
// What is wrong with a command line, in our words.

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace feedrate::tools {

struct Misuse {
  std::string problem;  // "no network 'lent'; did you mean lenet?"
  std::string advice;   // what to do about it; "": see the help
};

/// `app` has thrown `error`.
Misuse explain(CLI::App& app, const CLI::ParseError& error);

}  // namespace feedrate::tools
