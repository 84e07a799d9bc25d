#pragma once
// The options that name what a command reads and writes. Each says which where it is declared, so
// that one check covers every command: no output is an input or another output.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace feedrate::tools {

/// What a command does with a path.
enum class PathUse : std::uint8_t {
  reads,     // a file, or a directory and everything in it
  replaces,  // a file, by a new one that is renamed to it
  writes,    // a file, while the command runs
  creates,   // a directory and everything in it
  fills      // a directory, with files whose names are new
};

struct PathOption {
  const CLI::Option* option = nullptr;
  PathUse use = PathUse::reads;
  std::function<std::vector<std::filesystem::path>()> paths;  // once the options are parsed
  std::string_view may_replace{};  // the input whose file this output may replace: "--resume"
};

/// An option or argument, declared by other means, that names paths.
CLI::Option* add_paths(CLI::App& app, CLI::Option* option, PathOption what);

CLI::Option* add_input(CLI::App& app, const std::string& name, std::filesystem::path& path,
                       const std::string& description);
CLI::Option* add_input(CLI::App& app, const std::string& name,
                       std::vector<std::filesystem::path>& paths, const std::string& description);

struct Output {
  std::string name;
  std::string description;
  PathUse use = PathUse::replaces;
  std::string_view may_replace{};
};
/// What the command writes beside stdout.
CLI::Option* add_output(CLI::App& app, const Output& output, std::filesystem::path& path);

/// To be called once the options are parsed, before anything is opened to be written. Throws Error,
/// which names the file and both options, where an output is an input or a file of the dataset that
/// an input names, lies in a directory that is read, would hold what is read, or is another output;
/// whatever their paths and links. Throws Error, too, where a file cannot be replaced.
void expect_outputs_apart(const CLI::App& app);

}  // namespace feedrate::tools
