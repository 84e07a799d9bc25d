#include "tools/program/cli/misuse.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/base/kind.h"
#include "tools/console/advised_error.h"
#include "tools/program/cli/parser.hpp"

namespace feedrate::tools {
using namespace formats;

namespace {

std::string unknown_option(const CLI::App& app, const std::string& typed) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  const std::vector<std::string_view> names(known.begin(), known.end());
  const std::string_view nearest = nearest_name(typed, names);
  return fmt::format("no option '{}'{}", typed,
                     nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest));
}

/// A word that looks like an option, as typed.
struct OptionWord {
  std::string name;                       // "--batch"
  const CLI::Option* option;              // nullptr: there is no such option
  std::optional<std::string_view> value;  // behind its equals sign
  bool is_last;                           // no word follows that could be its value

  bool takes_value() const { return option != nullptr && option->get_items_expected_max() > 0; }
};

/// The options among the words, in their order; what an option takes as its value is none.
std::vector<OptionWord> option_words(const CLI::App& app, std::span<const std::string> words) {
  std::vector<OptionWord> found;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if (!words[i].starts_with('-') || words[i] == "-") continue;
    const std::string_view word = words[i];
    const std::size_t equals = word.find('=');
    OptionWord one{.name = std::string(word.substr(0, equals)),
                   .option = nullptr,
                   .value = std::nullopt,
                   .is_last = i + 1 == words.size()};
    one.option = app.get_option_no_throw(one.name);
    if (equals != std::string_view::npos) one.value = word.substr(equals + 1);
    if (one.takes_value() && !one.value) ++i;
    found.push_back(std::move(one));
  }
  return found;
}

/// What is wrong with the words themselves, whatever their values: an option that does not exist,
/// one that takes no value, lacks its value or has too many. "": nothing.
std::string wrong_word(const CLI::App& app, std::span<const std::string> words) {
  std::map<const CLI::Option*, int> given;
  for (const OptionWord& word : option_words(app, words)) {
    if (word.option == nullptr) return unknown_option(app, word.name);
    const std::string name = word.option->get_name();
    if (!word.takes_value()) {
      if (word.value) return name + " takes no value";
      continue;
    }
    if (!word.value && word.is_last) {
      return fmt::format("{} needs a value: {}", name, facts_of(app, *word.option).unit);
    }
    if (++given[word.option] > word.option->get_items_expected_max()) {
      return fmt::format("{} takes one value, found {}", name, given[word.option]);
    }
  }
  return "";
}

/// The first two options that were both given but exclude one another.
std::string excluded(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    for (const CLI::Option* other : option->get_excludes()) {
      if (option->count() == 0 || other->count() == 0) continue;
      return fmt::format("{} and {} exclude one another", option->get_name(), other->get_name());
    }
  }
  return "";
}

std::string needed(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    for (const CLI::Option* other : option->get_needs()) {
      if (option->count() == 0 || other->count() > 0) continue;
      return fmt::format("{} needs {}", option->get_name(), other->get_name());
    }
  }
  return "";
}

}  // namespace

std::string empty_value(const CLI::App& app, std::span<const std::string> words) {
  for (const OptionWord& word : option_words(app, words)) {
    if (word.takes_value() && word.value && word.value->empty()) {
      return fmt::format("{}: {}", word.option->get_name(), empty_refusal(app, *word.option));
    }
  }
  return "";
}

Misuse explain(CLI::App& app, std::span<const std::string> words, const std::exception& error) {
  // A misspelt option also looks like a missing one; the misspelling is the better explanation.
  if (const std::string wrong = wrong_word(app, words); !wrong.empty()) return {wrong, ""};
  if (const auto* advised = dynamic_cast<const AdvisedError*>(&error)) {
    return {advised->what(), advised->advice()};
  }
  std::string problem;
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    std::vector<std::string> extras = app.remaining();
    std::erase(extras, "--");
    problem = fmt::format("one argument too many: '{}'", extras.front());
  }
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) problem = excluded(app);
  if (dynamic_cast<const CLI::RequiresError*>(&error) != nullptr) problem = needed(app);
  return {problem.empty() ? error.what() : problem, ""};
}

}  // namespace feedrate::tools
