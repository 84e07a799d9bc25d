#pragma once
// The options of every command that takes a dataset's URL.

#include "formats/remote/settings.h"

namespace CLI {
class App;
}

namespace feedrate::tools {

/// All of formats/remote/settings.h, for this process: --connections, --endpoint …
void add_remote_options(CLI::App& app);
/// Says what the command does with the directory of its option --cache-dir. The settings outlive `app`.
void add_cache_path(CLI::App& app, const formats::RemoteSettings& settings);

}  // namespace feedrate::tools
