#include "tools/console/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>

#include "formats/base/text.h"

namespace feedrate::tools {
using namespace formats;

namespace {

constexpr std::size_t default_columns = 80;
constexpr std::size_t least_columns = 40;  // the descriptions of options need some room
constexpr std::size_t most_columns = 100;  // longer lines are hard to read

struct Substitute {
  std::string_view sign, ascii;
};
constexpr Substitute substitutes[] = {
    {"─", "-"},  {"━", "="},    {"│", "|"},   {"…", "..."}, {"×", "x"}, {"·", "."}, {"−", "-"},
    {"–", "-"},  {"→", "->"},   {"←", "<-"},  {"±", "+-"},  {"²", "2"}, {"µ", "u"}, {"≥", ">="},
    {"≤", "<="}, {"√", "sqrt"}, {"Σ", "sum"}, {"█", "#"},   {"▉", "#"}, {"▊", "#"}, {"▋", "#"},
    {"▌", "#"},  {"▍", "-"},    {"▎", "-"},   {"▏", "-"},   {"▇", "%"}, {"▆", "*"}, {"▅", "+"},
    {"▄", "="},  {"▃", "-"},    {"▂", "."},   {"▁", "_"}};

// "" if unset.
std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The first of these that is not empty decides, as POSIX has it.
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value(variable(name));
    if (value.empty()) continue;
    std::ranges::transform(value, value.begin(), [](unsigned char c) { return std::tolower(c); });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

bool takes_colours(int stream) {
  const std::string_view type = variable("TERM");
  return is_terminal(stream) && !type.empty() && type != "dumb" && variable("NO_COLOR").empty();
}

// painted() has put colours into the text: ESC [ digits and semicolons m.
std::string without_controls_but_colours(std::string_view text) {
  constexpr std::string_view lines = "\n\t";
  std::string shown;
  while (!text.empty()) {
    const std::size_t at = std::min(text.find("\033["), text.size());
    shown += without_controls(text.substr(0, at), lines);
    text.remove_prefix(at);
    const std::size_t end =
        text.find_first_not_of("0123456789;", std::min<std::size_t>(2, text.size()));
    if (text.empty() || end == std::string_view::npos || text[end] != 'm') {
      if (!text.empty()) shown += without_controls(text.substr(0, 1));
      text.remove_prefix(std::min<std::size_t>(1, text.size()));
      continue;
    }
    shown += text.substr(0, end + 1);
    text.remove_prefix(end + 1);
  }
  return shown;
}

}  // namespace

bool is_terminal(int stream) { return isatty(stream) == 1; }

std::size_t terminal_columns(int stream) {
  winsize size{};
  return ioctl(stream, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 ? default_columns : size.ws_col;
}

std::size_t text_columns(int stream) {
  const auto wished = parse_number<std::size_t>(variable("COLUMNS"));
  return std::clamp(wished && *wished > 0 ? *wished : terminal_columns(stream), least_columns,
                    most_columns);
}

std::string shown_on(int stream, std::string_view text) {
  const std::string harmless = without_controls_but_colours(text);
  return is_terminal(stream) && !locale_is_utf8() ? as_ascii(harmless) : harmless;
}

std::string as_ascii(std::string_view text) {
  std::string ascii;
  while (!text.empty()) {
    const auto* found = std::ranges::find_if(
        substitutes, [&](const Substitute& one) { return text.starts_with(one.sign); });
    if (found == std::end(substitutes)) {
      ascii += text.front();
      text.remove_prefix(1);
    } else {
      ascii += found->ascii;
      text.remove_prefix(found->sign.size());
    }
  }
  return ascii;
}

std::string painted(int stream, Colour colour, std::string_view text) {
  if (!takes_colours(stream)) return std::string(text);
  const std::string_view code = colour == Colour::red      ? "1;31"
                                : colour == Colour::yellow ? "1;33"
                                                           : "36";
  return fmt::format("\033[{}m{}\033[0m", code, text);
}

}  // namespace feedrate::tools
