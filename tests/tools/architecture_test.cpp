// The house rules that a compiler does not check: which folder may include which, no third-party
// header in a header, files short enough to read.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/places.h"

namespace feedrate::tools {
namespace {

namespace fs = std::filesystem;

const fs::path root = testing::source_directory();

/// The sub-folders of a top-level folder, lowest first. A file may include files of its own
/// sub-folder and of those in lines above it; sub-folders in one line never include one another.
/// "." is the folder itself, which holds its interface. Where a folder has sub-folders, its .cpp
/// files wire them together: they stand in the line "<folder>:wiring".
using Layers = std::vector<std::vector<std::string>>;

struct Folder {
  std::set<std::string> may_include;  // other top-level folders
  Layers layers;
};

const std::map<std::string, Folder> architecture{
    {"formats",
     {{},
      {{"base"},
       {"io", "pixels"},
       {"digests"},
       {"remote"},
       {"."},
       {"codecs", "containers"},
       {"codecs/bmp", "codecs/gif", "codecs/jpeg", "codecs/png", "codecs/pnm", "codecs/webp",
        "means"},
       {"codecs/packed", "containers/folder", "containers/lmdb", "containers/mds",
        "containers/png_map", "containers/parquet", "containers/recordio", "containers/tfrecord",
        "containers/webdataset"},
       {"codecs:wiring", "containers:wiring"},
       {"crops"},
       {"inspect", "verify"},
       {".:wiring"}}}},
    {"converters",
     {{"formats"},
      {{"."},
       {"pipeline"},
       {"cifar", "downloads", "imagenet"},
       {"sources", "synths"},
       {".:wiring"}}}},
    {"loader",
     {{"formats"},
      {{"order", "pixels", "tuning"}, {"."}, {"engine", "recipes"}, {"augment"}, {".:wiring"}}}},
    {"trainer",
     {{"formats", "loader"},
      {{"communicators", "graph", "optimizers", "schedules"},
       {"communicators/mpi", "communicators:wiring", "ops"},
       {"backends"},
       {"backends/cpu", "backends/cuda", "backends/plugins"},
       {"backends/cpu/threads", "backends/cuda/kernels"},
       {"backends/cpu/values"},
       {"backends/cpu/products", "backends/cuda/decode", "backends/cuda/products"},
       {"backends/cpu/layers", "backends/cuda/layers", "backends/cuda/timing"},
       {"backends/cpu:wiring", "backends/cuda:wiring"},
       {"backends:wiring"},
       {"loop"},
       {"networks"},
       {"presets"},
       {"."},
       {".:wiring"}}}},
    {"tools",
     {{"formats", "converters", "loader", "trainer"},
      {{"console"},
       {"lab/logs", "lab/measure", "lab/peers"},
       {"lab/jobs"},
       {"lab/layers"},
       {"lab/report/study"},
       {"lab/report/draw"},
       {"lab/report/write"},
       {"lab/advise", "lab/diagnose"},
       {"lab/bench"},
       {"program/cli"},
       {"program/cluster"},
       {"program/commands"},
       {"bindings/c"},
       {"bindings/python"},
       {"bindings/python:wiring"}}}},
};

constexpr std::size_t max_lines = 400;

struct Source {
  fs::path path;  // relative to the root
  std::vector<std::string> lines;
};

Source read_source(const fs::path& file) {
  Source source{fs::relative(file, root), {}};
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) source.lines.push_back(line);
  return source;
}

std::vector<Source> sources(const std::vector<std::string>& folders,
                            const std::set<std::string>& extensions) {
  std::vector<Source> found;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (extensions.contains(entry.path().extension().string())) {
        found.push_back(read_source(entry.path()));
      }
    }
  }
  return found;
}

const std::set<std::string> cpp{".h", ".hpp", ".cpp", ".cu", ".cuh", ".inc"};

std::vector<std::string> folders() {
  std::vector<std::string> names;
  for (const auto& [name, folder] : architecture) names.push_back(name);
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

std::string top(const fs::path& path) { return path.begin()->string(); }

/// "loader/engine/slot_ring.h" → "engine"; "loader/loader.h" → "."
std::string sub_folder(const fs::path& path) {
  return path.parent_path().lexically_relative(top(path)).generic_string();
}

bool has_sub_folders(const fs::path& folder) {
  return std::ranges::any_of(fs::directory_iterator(root / folder),
                             [](const auto& entry) { return entry.is_directory(); });
}

/// The name by which `path` stands in the layers of its top-level folder.
std::string layer_name(const fs::path& path) {
  const std::string folder = sub_folder(path);
  const std::string extension = path.extension();
  const bool implements = extension == ".cpp" || extension == ".cu";
  return implements && has_sub_folders(path.parent_path()) ? folder + ":wiring" : folder;
}

std::optional<std::size_t> level(const Layers& layers, const std::string& name) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (std::ranges::find(layers[i], name) != layers[i].end()) return i;
  }
  return std::nullopt;
}

TEST(UnitArchitecture, every_include_follows_an_arrow_of_the_design) {
  std::size_t seen = 0;
  for (const Source& source : sources(folders(), cpp)) {
    const Folder& folder = architecture.at(top(source.path));
    const std::string here = layer_name(source.path);
    const auto from = level(folder.layers, here);
    EXPECT_TRUE(from) << source.path << ": no layer is called " << here;
    for (const std::string& line : source.lines) {
      const fs::path header = included(line, '"');
      if (!header.has_parent_path()) continue;  // beside the file, or made by the build
      ++seen;
      if (top(header) != top(source.path)) {
        EXPECT_TRUE(folder.may_include.contains(top(header)))
            << source.path << " may not include " << header;
        continue;
      }
      const std::string there = sub_folder(header);
      const auto to = level(folder.layers, there);
      EXPECT_TRUE(there == sub_folder(source.path) || (from && to && *to < *from))
          << source.path << " (" << here << ") may not include " << header;
    }
  }
  EXPECT_GT(seen, 100U) << "the test read no includes; does it look in the right place?";
}

TEST(UnitArchitecture, every_file_is_in_the_namespace_of_its_folder) {
  std::size_t seen = 0;
  for (const Source& source : sources(folders(), cpp)) {
    const std::string own = "namespace feedrate::" + top(source.path);
    for (const std::string& line : source.lines) {
      if (!line.starts_with("namespace feedrate")) continue;
      ++seen;
      const bool declares_another = source.path.extension() == ".h";  // a class of a folder below
      EXPECT_TRUE(line.starts_with(own) ||
                  (declares_another && !line.starts_with("namespace feedrate {")))
          << source.path << ": " << line;
    }
  }
  EXPECT_GT(seen, 100U);
}

TEST(UnitArchitecture, headers_name_no_third_party_header_and_use_no_namespace) {
  // The standard library has no dot in its names; what else may stand here is the system's own.
  // A .hpp or .cuh is no part of the interface: it is not installed, and .cpp or .cu alone read it.
  const std::set<std::string> system{"unistd.h", "fcntl.h", "sys/types.h", "stddef.h", "stdint.h"};
  for (const Source& source : sources(folders(), {".h"})) {
    for (const std::string& line : source.lines) {
      const std::string header = included(line, '<');
      const bool standard = header.find_first_of("./") == std::string::npos;
      EXPECT_TRUE(standard || system.contains(header))
          << source.path << " includes <" << header << ">";
      EXPECT_FALSE(line.starts_with("using namespace ")) << source.path;
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

TEST(UnitArchitecture, the_python_module_uses_the_stable_interface_alone) {
  // The module for Python 3.12 and all later ones sees no member of Python's structs, nor macros that
  // read them. Other builds see both and would compile.
  const std::regex unstable(
      R"(->(tp|ob|nb|sq|mp)_\w+|\bPy\w+_(GET_ITEM|SET_ITEM|GET_SIZE|AS_STRING|AS_DOUBLE)\b)");
  for (const Source& source : sources({"tools/bindings/python"}, {".cpp", ".hpp"})) {
    for (const std::string& line : source.lines) {
      EXPECT_FALSE(std::regex_search(line, unstable)) << source.path << ": " << line;
    }
  }
}

TEST(UnitArchitecture, no_file_is_too_long_to_read) {
  std::vector<std::string> everywhere = folders();
  everywhere.insert(everywhere.end(), {"tests", "samples"});
  for (const Source& source : sources(everywhere, {".h", ".hpp", ".c", ".cpp", ".cu", ".cuh",
                                                   ".cmake", ".sh", ".py", ".js", ".css"})) {
    EXPECT_LE(source.lines.size(), max_lines) << source.path;
  }
}

/// What a line has between grave accents.
std::vector<std::string> quoted(const std::string& line) {
  static const std::regex accents("`([^`]+)`");
  std::vector<std::string> found;
  for (std::sregex_iterator at(line.begin(), line.end(), accents), end; at != end; ++at) {
    found.push_back((*at)[1]);
  }
  return found;
}

// Else a page would send its readers to where a file was.
TEST(UnitArchitecture, every_file_that_a_page_names_is_there) {
  static const std::regex path("[a-z_]+(/[A-Za-z0-9_.-]+)*/?");
  std::vector<Source> pages = sources(folders(), {".md"});
  for (const char* name : {"ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"}) {
    pages.push_back(read_source(root / name));
  }
  for (const Source& page : pages) {
    const fs::path here = (root / page.path).parent_path();
    for (const std::string& line : page.lines) {
      // The first cell of a row says what is in the folder.
      const bool is_row = page.path.filename() == "README.md" && line.starts_with("| `");
      const std::vector<std::string> of_row =
          is_row ? quoted(line.substr(0, line.find('|', 1))) : std::vector<std::string>();
      for (const std::string& word : quoted(line)) {
        const std::size_t slash = word.find('/');
        if (slash == std::string::npos || !std::regex_match(word, path)) continue;
        const std::string first = word.substr(0, slash);
        const bool is_named = std::ranges::find(of_row, word) != of_row.end();
        const bool leads = slash + 1 < word.size() && first != "build" &&
                           (fs::exists(root / first) || fs::exists(here / first));
        if (!is_named && !leads) continue;
        EXPECT_TRUE(fs::exists(root / word) || fs::exists(here / word))
            << page.path << ": " << word;
      }
    }
  }
}

TEST(UnitArchitecture, every_folder_explains_itself_within_forty_lines) {
  for (const Source& source : sources(folders(), {".md"})) {
    if (source.path.filename() != "README.md") continue;
    EXPECT_LE(source.lines.size(), 40U) << source.path;
  }
  for (const std::string& folder : folders()) {
    EXPECT_TRUE(fs::exists(root / folder / "README.md")) << folder;
  }
}

}  // namespace
}  // namespace feedrate::tools
