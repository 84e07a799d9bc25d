#pragma once
// How help looks, and the options that mean the same for every command.

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "loader/batch.h"
#include "tools/cli/command.h"

namespace CLI {
class Option;
}

namespace feedrate::tools {

/// Gives `app` the command's texts and the house's layout of help.
void set_help(CLI::App& app, const Command& command);
/// Has every option of `app` refuse an empty value: a script's unset variable would ask for nothing
/// where something was meant, such as a checkpoint.
void refuse_empty_values(CLI::App& app);
/// Every option of `app` as typed: "--threads", "--help", …
std::vector<std::string> option_names(const CLI::App& app);

/// Checks of numbers, which say in words what was expected. A sign before a whole number, nan and
/// infinity are refused, which the parser would take.
CLI::Option* check_whole(CLI::Option* option, std::uint64_t least,
                         std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
CLI::Option* check_positive(CLI::Option* option);
CLI::Option* check_not_negative(CLI::Option* option);

CLI::Option* add_json(CLI::App& app, bool& json);
/// A file, or a directory, that is written beside what goes to stdout.
CLI::Option* add_output(CLI::App& app, const std::string& name, std::filesystem::path& path,
                        const std::string& description, const std::string& place = "FILE");
/// A name, of which 'feedrate list' mostly tells; its default stands in the help.
CLI::Option* add_name(CLI::App& app, const std::string& option, std::string& name,
                      const std::string& description);
CLI::Option* add_seed(CLI::App& app, std::uint64_t& seed);
CLI::Option* add_batch(CLI::App& app, std::uint32_t& batch);
CLI::Option* add_batch(CLI::App& app, std::vector<std::uint32_t>& batches);
/// "--precision": a name that no backend knows is misuse; whether the device can is for it to say.
CLI::Option* add_precision(CLI::App& app, std::string& precision);
CLI::Option* add_precision(CLI::App& app, std::vector<std::string>& chosen);
/// "--pixels", what batches hold; "--mean" and "--deviation", which make numbers of pixels.
CLI::Option* add_pixels(CLI::App& app, loader::PixelType& pixels);
CLI::Option* add_mean(CLI::App& app, std::vector<double>& means);
CLI::Option* add_deviation(CLI::App& app, std::vector<double>& deviations);
/// "--threads" or another name for a number of threads.
CLI::Option* add_threads(CLI::App& app, const std::string& name, unsigned& threads,
                         const std::string& description);
/// The same, or "auto", which leaves `threads` as it is.
CLI::Option* add_threads(CLI::App& app, const std::string& name, unsigned& threads, bool& automatic,
                         const std::string& description);
CLI::Option* add_threads(CLI::App& app, const std::string& name, std::vector<unsigned>& threads,
                         const std::string& description);

}  // namespace feedrate::tools
