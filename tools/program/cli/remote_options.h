#pragma once
// The options of every command that takes a dataset's URL.

namespace CLI {
class App;
}

namespace feedrate::tools {

/// All of formats/remote/settings.h, for this process: --connections, --endpoint …
void add_remote_options(CLI::App& app);

}  // namespace feedrate::tools
