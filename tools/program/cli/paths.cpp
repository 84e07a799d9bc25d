#include "tools/program/cli/paths.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <utility>

#include "formats/base/error.h"
#include "formats/base/without_slash.h"
#include "formats/containers/wishes.h"
#include "formats/crops/crop_index.h"
#include "formats/dataset.h"
#include "formats/io/replace.h"
#include "formats/remote/url.h"
#include "formats/sidecar.h"
#include "tools/program/cli/parser.hpp"

namespace feedrate::tools {
using namespace formats;

namespace {

namespace fs = std::filesystem;

struct NamedPath {
  const PathOption* by;
  fs::path path;

  std::string option() const { return by->option->get_name(); }
};

/// Where a name leads, through links, even to a file that does not exist yet.
fs::path resolved(fs::path path) {
  constexpr int max_links = 40;  // as in Linux
  std::error_code ignored;
  for (int links = 0; links < max_links && fs::is_symlink(path, ignored); ++links) {
    path = path.parent_path() / fs::read_symlink(path, ignored);
  }
  return without_slash(fs::weakly_canonical(fs::absolute(path), ignored));
}

bool same(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored) || resolved(a) == resolved(b);
}

bool lies_in(const fs::path& path, const fs::path& directory) {
  std::error_code ignored;
  for (fs::path above = resolved(path); above != above.parent_path();) {
    above = above.parent_path();
    if (fs::equivalent(above, directory, ignored)) return true;
  }
  return false;
}

/// Where the command writes: also the names that files and directories have until they are whole.
std::vector<fs::path> claimed(const NamedPath& output) {
  std::vector<fs::path> claims{output.path};
  if (output.by->use == PathUse::replaces) claims.push_back(resolved(output.path) += ".new");
  if (output.by->use == PathUse::creates) claims.push_back(resolved(output.path) += ".partial");
  return claims;
}

/// The files of the dataset at `path`; none where it is no dataset, or a damaged one.
std::vector<fs::path> files_of(const fs::path& path) {
  if (!url_scheme(path.native()).empty()) return {};  // nothing is written to a server
  try {
    const auto dataset = open_as_found(path);
    const fs::path& data = dataset->info().path;  // without what `path` wishes for
    std::vector<fs::path> files = sample_files(*dataset);
    files.push_back(crop_index_file(data));
    files.push_back(sidecar_file(data));
    const fs::path directory = files.back().parent_path();
    if (const auto sidecar = read_sidecar(data)) {
      for (const Sidecar::File& beside : sidecar->files) files.push_back(directory / beside.name);
    }
    return files;
  } catch (const Error&) {
    return {};  // the command says what is wrong
  }
}

/// Whether `path` is a file of the dataset at `input`, wherever that is, or would be taken for its
/// index.
bool is_file_of(const fs::path& path, const fs::path& input) {
  constexpr std::array indexes{".idx", ".lst", ".crops"};
  std::error_code ignored;
  const bool index = std::ranges::find(indexes, path.extension()) != indexes.end();
  if (!index && !fs::is_regular_file(path, ignored)) return false;
  const fs::path directory = resolved(path).parent_path();
  return std::ranges::any_of(files_of(input), [&](const fs::path& file) {
    return same(path, file) || (index && same(directory, resolved(file).parent_path()));
  });
}

void expect_apart(const NamedPath& output, const NamedPath& input) {
  std::error_code ignored;
  const fs::path data = without_wishes(input.path);
  for (const fs::path& claim : claimed(output)) {
    if (same(claim, data)) {
      if (claim == output.path && input.option() == output.by->may_replace) continue;
      fail(output.path, output.option(), " would write over what ", input.option(), " reads");
    }
    if (fs::is_directory(data, ignored) && lies_in(claim, data)) {
      fail(output.path, output.option(), " would write into ", data, ", which ", input.option(),
           " reads");
    }
    if (output.by->use == PathUse::creates && lies_in(data, claim)) {
      fail(output.path, output.option(), " would hold ", data, ", which ", input.option(),
           " reads");
    }
    if (is_file_of(claim, input.path)) {
      fail(output.path, output.option(), " would write over a file of ", input.path, ", which ",
           input.option(), " reads");
    }
  }
}

void expect_two(const NamedPath& one, const NamedPath& other) {
  for (const fs::path& claim : claimed(one)) {
    for (const fs::path& its : claimed(other)) {
      if (!same(claim, its)) continue;
      fail(other.path, one.option(), " and ", other.option(), " would both write it");
    }
  }
}

}  // namespace

CLI::Option* add_paths(CLI::App& app, CLI::Option* option, PathOption what) {
  what.option = option;
  static_cast<Parser&>(app).paths.push_back(std::move(what));
  return option;
}

CLI::Option* add_input(CLI::App& app, const std::string& name, fs::path& path,
                       const std::string& description) {
  return add_paths(app, app.add_option(name, path, description),
                   {.paths = [&path] { return std::vector{path}; }});
}

CLI::Option* add_input(CLI::App& app, const std::string& name, std::vector<fs::path>& paths,
                       const std::string& description) {
  return add_paths(app, app.add_option(name, paths, description),
                   {.paths = [&paths] { return paths; }});
}

CLI::Option* add_output(CLI::App& app, const Output& output, fs::path& path) {
  const bool directory = output.use == PathUse::creates || output.use == PathUse::fills;
  CLI::Option* option =
      app.add_option(output.name, path, output.description)->type_name(directory ? "DIR" : "FILE");
  return add_paths(app, option,
                   {.use = output.use,
                    .paths = [&path] { return std::vector{path}; },
                    .may_replace = output.may_replace});
}

void expect_outputs_apart(const CLI::App& app) {
  std::vector<NamedPath> inputs, outputs;
  for (const PathOption& by : static_cast<const Parser&>(app).paths) {
    std::vector<NamedPath>& named = by.use == PathUse::reads ? inputs : outputs;
    for (const fs::path& path : by.option->count() > 0 ? by.paths() : std::vector<fs::path>()) {
      if (path.empty() || is_device(path)) continue;  // nothing of a device can be lost
      named.push_back({&by, path});
    }
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].by->use == PathUse::replaces) replaceable(outputs[i].path);
    for (const NamedPath& input : inputs) expect_apart(outputs[i], input);
    for (std::size_t other = 0; other < i; ++other) expect_two(outputs[other], outputs[i]);
  }
}

}  // namespace feedrate::tools
