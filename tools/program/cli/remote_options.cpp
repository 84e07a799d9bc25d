#include "tools/program/cli/remote_options.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <vector>

#include "tools/program/cli/help.h"
#include "tools/program/cli/paths.h"

namespace feedrate::tools {

void add_cache_path(CLI::App& app, const formats::RemoteSettings& settings) {
  const auto paths = [&settings] {
    std::vector<std::filesystem::path> all;
    if (settings.cache_dir) all.emplace_back(*settings.cache_dir);
    return all;
  };
  add_paths(app, app.get_option("--cache-dir"), {.use = PathUse::fills, .paths = paths});
}

void add_remote_options(CLI::App& app) {
  const auto given = std::make_shared<formats::RemoteSettings>();
  for (const formats::BoundSetting& one : formats::bound_settings(*given)) {
    add_option(app, one);
  }
  add_cache_path(app, *given);
  app.parse_complete_callback([given] { formats::remote_settings() = *given; });
}

}  // namespace feedrate::tools
