#pragma once
// The options that say what an epoch holds, of every command that loads a dataset.

#include <filesystem>
#include <string>

#include "tools/lab/jobs/order_request.h"
#include "tools/program/cli/order_options.h"

namespace CLI {
class App;
}

namespace feedrate::tools {

/// Adds PATH and the options that say what an epoch holds; --mix replaces PATH.
void add_dataset(CLI::App& app, std::filesystem::path& path, const std::string& what,
                 OrderRequest& order);
/// To be called once the options are parsed. Throws CLI::Error where there is neither PATH nor a mix.
void expect_dataset(const std::filesystem::path& path, const OrderRequest& order);

}  // namespace feedrate::tools
