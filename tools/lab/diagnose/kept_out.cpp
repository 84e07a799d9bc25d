#include "tools/lab/diagnose/kept_out.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

namespace feedrate::tools {
namespace fs = std::filesystem;

namespace {

using namespace std::chrono_literals;

constexpr auto at_first = 1s;  // in which one looks each time: what fails does so soon
constexpr auto rest = 250ms;   // between later looks
constexpr std::string_view name_of_path = "PYTHONPATH=";

fs::path place_of(std::uint64_t process) { return fs::path("/proc") / std::to_string(process); }

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Words that end with a null character each.
std::vector<std::string> words_of(const fs::path& path) {
  std::vector<std::string> words;
  std::istringstream text(text_of(path));
  for (std::string word; std::getline(text, word, '\0');) words.push_back(word);
  return words;
}

/// Those that its main thread has started.
std::vector<std::uint64_t> children_of(std::uint64_t process) {
  std::istringstream text(
      text_of(place_of(process) / "task" / std::to_string(process) / "children"));
  std::vector<std::uint64_t> children;
  for (std::uint64_t child = 0; text >> child;) children.push_back(child);
  return children;
}

bool is_python(std::uint64_t process) {
  std::error_code failed;
  const std::string name = fs::read_symlink(place_of(process) / "exe", failed).filename().string();
  return name.starts_with("python") || name.starts_with("pypy");
}

/// Why that Python has no probe; "": it has, or nobody knows.
std::string why_without(std::uint64_t process, std::string_view probe) {
  const std::vector<std::string> variables = words_of(place_of(process) / "environ");
  // It may have ended meanwhile.
  const std::vector<std::string> command = words_of(place_of(process) / "cmdline");
  if (command.empty() || !is_python(process)) return "";
  if (const std::string word = keeps_probe_out(command); !word.empty()) {
    return fmt::format(
        "with {}, Python reads no PYTHONPATH, which keeps the probe out: run it without.", word);
  }
  for (const std::string& variable : variables) {
    if (!variable.starts_with(name_of_path)) continue;
    if (variable.find(probe) != std::string::npos) return "";
    return fmt::format(
        "Python ran with a PYTHONPATH that the command had set anew, which keeps the probe out: "
        "write {}:$PYTHONPATH.",
        variable);
  }
  return "Python ran without PYTHONPATH, which the command had taken away as 'env -i' does; that "
         "keeps the probe out: pass it on.";
}

}  // namespace

std::string keeps_probe_out(const std::vector<std::string>& command) {
  for (std::size_t i = 1; i < command.size() && command[i].starts_with('-'); ++i) {
    const std::string& word = command[i];
    if (word == "-c" || word == "-m" || word == "-" || word == "--") break;
    if (word == "-W" || word == "-X" || word == "--check-hash-based-pycs") ++i;
    if (word.starts_with("--") || word.starts_with("-W") || word.starts_with("-X")) continue;
    if (word.find_first_of("IE") != std::string::npos) return word;
  }
  return "";
}

void KeptOut::look(const fs::path& probe, const std::set<std::uint64_t>& told) {
  const Clock::time_point now = Clock::now();
  if (!why_.empty() || now < next_) return;
  next_ = now < started_ + at_first ? now : now + rest;
  std::vector<std::uint64_t> below = children_of(static_cast<std::uint64_t>(getpid()));
  for (std::size_t at = 0; at < below.size(); ++at) {  // grows while it is gone through
    const std::uint64_t process = below[at];
    if (is_python(process) && !told.contains(process)) why_ = why_without(process, probe.string());
    if (!why_.empty()) return;
    for (const std::uint64_t child : children_of(process)) below.push_back(child);
  }
}

}  // namespace feedrate::tools
