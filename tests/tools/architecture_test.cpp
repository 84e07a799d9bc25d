// The house rules that a compiler does not check: which folder may include which, no third-party
// header in a header, and files short enough to read.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/places.h"

namespace feedrate {
namespace {

namespace fs = std::filesystem;

const fs::path root = testing::source_directory();
const std::map<std::string, std::set<std::string>> may_include{
    {"formats", {"formats"}},
    {"converters", {"formats", "converters"}},
    {"loader", {"formats", "loader"}},
    {"trainer", {"formats", "loader", "trainer"}},
    {"tools", {"formats", "converters", "loader", "trainer", "tools"}},
};
constexpr std::size_t most_lines = 400;

struct Source {
  fs::path path;  // relative to the root
  std::vector<std::string> lines;
};

std::vector<Source> sources(const std::vector<std::string>& folders,
                            const std::set<std::string>& extensions) {
  std::vector<Source> found;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (!extensions.contains(entry.path().extension().string())) continue;
      Source source{fs::relative(entry.path(), root), {}};
      std::ifstream stream(entry.path());
      for (std::string line; std::getline(stream, line);) source.lines.push_back(line);
      found.push_back(std::move(source));
    }
  }
  return found;
}

std::vector<std::string> folders() {
  std::vector<std::string> names;
  for (const auto& [folder, allowed] : may_include) names.push_back(folder);
  return names;
}

/// What `line` includes when it is an include of that kind ('"' or '<'), else "".
std::string included(const std::string& line, char kind) {
  constexpr std::string_view directive = "#include ";

  if (!line.starts_with(directive) || line.size() <= directive.size()) return "";
  if (line[directive.size()] != kind) return "";
  const std::size_t start = directive.size() + 1;
  return line.substr(start, line.find(kind == '<' ? '>' : '"', start) - start);
}

TEST(UnitArchitecture, every_include_follows_an_arrow_of_the_design) {
  std::size_t seen = 0;
  for (const Source& source : sources(folders(), {".h", ".hpp", ".cpp", ".cu", ".cuh", ".inc"})) {
    const std::string folder = source.path.begin()->string();
    for (const std::string& line : source.lines) {
      const std::string header = included(line, '"');
      const auto slash = header.find('/');
      if (slash == std::string::npos) continue;  // beside the file, or made by the build
      ++seen;
      EXPECT_TRUE(may_include.at(folder).contains(header.substr(0, slash)))
          << source.path << " may not include " << header;
    }
  }
  EXPECT_GT(seen, 100U) << "the test read no includes; does it look in the right place?";
}

TEST(UnitArchitecture, headers_name_no_third_party_header) {
  // The standard library has no dot in its names; what else may stand here is the system's own.
  // A .hpp or .cuh is no part of the interface: it is not installed, and .cpp or .cu alone read it.
  const std::set<std::string> system{"unistd.h", "fcntl.h", "sys/types.h"};
  for (const Source& source : sources(folders(), {".h"})) {
    for (const std::string& line : source.lines) {
      const std::string header = included(line, '<');
      const bool standard = header.find_first_of("./") == std::string::npos;
      EXPECT_TRUE(standard || system.contains(header))
          << source.path << " includes <" << header << ">";
    }
  }
}

TEST(UnitArchitecture, every_header_is_guarded_and_says_what_it_is_for) {
  for (const Source& source : sources(folders(), {".h", ".hpp", ".cuh"})) {
    ASSERT_GE(source.lines.size(), 2U) << source.path;
    EXPECT_EQ(source.lines[0], "#pragma once") << source.path;
    EXPECT_TRUE(source.lines[1].starts_with("//")) << source.path;
  }
}

TEST(UnitArchitecture, no_file_is_too_long_to_read) {
  std::vector<std::string> everywhere = folders();
  everywhere.insert(everywhere.end(), {"tests", "samples"});
  for (const Source& source : sources(everywhere, {".h", ".hpp", ".cpp", ".cu", ".cuh", ".cmake",
                                                   ".sh", ".py", ".js", ".css"})) {
    EXPECT_LE(source.lines.size(), most_lines) << source.path;
  }
}

TEST(UnitArchitecture, every_folder_explains_itself_within_forty_lines) {
  for (const Source& source : sources(folders(), {".md"})) {
    if (source.path.filename() != "README.md") continue;  // a reference may be as long as it needs
    EXPECT_LE(source.lines.size(), 40U) << source.path;
  }
  for (const std::string& folder : folders()) {
    EXPECT_TRUE(fs::exists(root / folder / "README.md")) << folder;
  }
}

}  // namespace
}  // namespace feedrate
