#pragma once
// What is wrong with a command line, in our words.

#include <exception>
#include <span>
#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace feedrate::tools {

struct Misuse {
  std::string problem;  // "no network 'lent'; did you mean lenet?"
  std::string advice;   // what to do about it; "": see the help
};

/// The first option of the words with nothing behind its "=", for which the parser would take the next
/// word, and what it expects; "": none.
std::string empty_value(const CLI::App& app, std::span<const std::string> words);

/// `app` has thrown `error` when it read these words.
Misuse explain(CLI::App& app, std::span<const std::string> words, const std::exception& error);

}  // namespace feedrate::tools
