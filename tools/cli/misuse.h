#pragma once
// What is wrong with a command line, in our words.

#include <string>

#include "formats/base/error.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace feedrate::tools {

struct Misuse {
  std::string problem;  // "no network 'lent'; did you mean lenet?"
  std::string advice;   // what to do about it; "": see the help
};

/// What was asked for cannot be, as shows only once the data is open.
class Misused : public formats::Error {
 public:
  using Error::Error;
};

/// `app` has thrown `error`.
Misuse explain(CLI::App& app, const CLI::ParseError& error);

}  // namespace feedrate::tools
