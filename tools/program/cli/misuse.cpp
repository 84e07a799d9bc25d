#include "tools/program/cli/misuse.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <vector>

#include "formats/base/kind.h"
#include "tools/program/cli/help.h"

namespace feedrate::tools {
using namespace formats;

namespace {

template <class Kind>
bool is(const CLI::ParseError& error) {
  return dynamic_cast<const Kind*>(&error) != nullptr;
}

std::string unknown_option(const CLI::App& app, const std::string& word) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  const std::vector<std::string_view> names(known.begin(), known.end());
  const std::string typed = word.substr(0, word.find('='));
  const std::string_view nearest = nearest_name(typed, names);
  return fmt::format("no option '{}'{}", typed,
                     nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest));
}

/// The option that the message begins with; null if none.
const CLI::Option* subject(const CLI::App& app, std::string_view message) {
  const std::string name(message.substr(0, message.find_first_of(": ")));
  const CLI::Option* option = app.get_option_no_throw(name);
  return option == nullptr ? app.get_option_no_throw("--" + name) : option;  // a flag's
}

std::string wrong_count(const CLI::App& app, const std::string& message) {
  const CLI::Option* option = subject(app, message);
  if (option == nullptr) return message;
  const std::string name = option->get_name();
  if (option->get_items_expected_max() == 0) return name + " takes no value";
  const std::size_t values = option->results().size();
  if (values > 1) return fmt::format("{} takes one value, found {}", name, values);
  return fmt::format("{} needs a value: {}", name, type_of(*option));
}

/// The first two options that were both given but exclude one another.
std::string excluded(const CLI::App& app, const std::string& message) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0) continue;
    for (const CLI::Option* other : option->get_excludes()) {
      if (other->count() == 0) continue;
      return fmt::format("{} and {} exclude one another", option->get_name(), other->get_name());
    }
  }
  return message;
}

std::string needed(const CLI::App& app, const std::string& message) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0) continue;
    for (const CLI::Option* other : option->get_needs()) {
      if (other->count() == 0) {
        return fmt::format("{} needs {}", option->get_name(), other->get_name());
      }
    }
  }
  return message;
}

/// "Could not convert: --json = maybe"
std::string unreadable(const CLI::App& app, const std::string& message) {
  const std::size_t name = message.find("--"), equals = message.find(" = ");
  if (name == std::string::npos || equals == std::string::npos || equals < name) return message;
  const CLI::Option* option = app.get_option_no_throw(message.substr(name, equals - name));
  if (option == nullptr) return message;
  if (option->get_items_expected_max() == 0) return option->get_name() + " takes no value";
  return fmt::format("{}: expected {}, found '{}'", option->get_name(), type_of(*option),
                     message.substr(equals + 3));
}

}  // namespace

Misuse explain(CLI::App& app, const CLI::ParseError& error) {
  // A misspelt option also looks like a missing one; the misspelling is the better explanation.
  std::vector<std::string> extras = app.remaining();
  const auto options_end = std::ranges::find(extras, "--");
  const auto option = std::find_if(extras.begin(), options_end, [](const std::string& word) {
    return word.starts_with('-') && word != "-";
  });
  if (option != options_end) return {unknown_option(app, *option), ""};
  if (options_end != extras.end()) extras.erase(options_end);
  const std::string message = error.what();
  if (is<CLI::ExtrasError>(error)) {
    return {fmt::format("one argument too many: '{}'", extras.front()), ""};
  }
  if (is<CLI::ArgumentMismatch>(error)) return {wrong_count(app, message), ""};
  if (is<CLI::ExcludesError>(error)) return {excluded(app, message), ""};
  if (is<CLI::RequiresError>(error)) return {needed(app, message), ""};
  if (is<CLI::ConversionError>(error)) return {unreadable(app, message), ""};
  // A check may say in a second line what to do.
  const std::size_t end = message.find('\n');
  return {message.substr(0, end), end == std::string::npos ? "" : message.substr(end + 1)};
}

}  // namespace feedrate::tools
