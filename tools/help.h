#pragma once
// How help looks, and the options that mean the same for every command.

#include <cstdint>
#include <string>
#include <vector>

#include "tools/command.h"

namespace CLI {
class Option;
}

namespace feedrate {

/// Gives `app` the command's texts and the house's layout of help.
void set_help(CLI::App& app, const Command& command);
/// Every option of `app` as typed: "--threads", "--help", …
std::vector<std::string> option_names(const CLI::App& app);

CLI::Option* add_json(CLI::App& app, bool& json);
CLI::Option* add_seed(CLI::App& app, std::uint64_t& seed);
CLI::Option* add_batch(CLI::App& app, std::uint32_t& batch);

}  // namespace feedrate
