#pragma once
// The layout of help, and the options that have the same meaning in several commands.

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

/// Sets the command's texts and our layout of help.
void set_help(CLI::App& app, const Command& command);
/// Makes every option of `app` refuse an empty value. Otherwise an unset variable in a script would
/// silently turn off an option such as --checkpoint.
void refuse_empty_values(CLI::App& app);
/// Every option of `app` as typed: "--threads", "--help", …
std::vector<std::string> option_names(const CLI::App& app);

/// Checks of numbers; a refusal says what was expected. Unlike the parser, they refuse a sign
/// before a whole number, nan and infinity.
CLI::Option* check_whole(CLI::Option* option, std::uint64_t min,
                         std::uint64_t max = std::numeric_limits<std::uint64_t>::max());
CLI::Option* check_positive(CLI::Option* option);
CLI::Option* check_not_negative(CLI::Option* option);

CLI::Option* add_json(CLI::App& app, bool& json);
/// A file or directory that the command writes in addition to its output on stdout.
CLI::Option* add_output(CLI::App& app, const std::string& name, std::filesystem::path& path,
                        const std::string& description, const std::string& place = "FILE");
/// A name, usually one that 'feedrate list' shows. Help shows its default.
CLI::Option* add_name(CLI::App& app, const std::string& option, std::string& name,
                      const std::string& description);
/// Several names, separated by commas.
CLI::Option* add_names(CLI::App& app, const std::string& option, std::vector<std::string>& names,
                       const std::string& description);
/// One of a few words; help shows its default. Another word is misuse.
CLI::Option* add_choice(CLI::App& app, const std::string& option, std::string& word,
                        const std::vector<std::string>& words, const std::string& description);
CLI::Option* add_seed(CLI::App& app, std::uint64_t& seed);
CLI::Option* add_batch(CLI::App& app, std::uint32_t& batch);
CLI::Option* add_batch(CLI::App& app, std::vector<std::uint32_t>& batches);
/// "--precision": a name that no backend knows is misuse; the device refuses what it does not
/// support.
CLI::Option* add_precision(CLI::App& app, std::string& precision);
CLI::Option* add_precision(CLI::App& app, std::vector<std::string>& chosen);
/// "--pixels", the type of the values in batches; "--mean" and "--deviation", which normalise them.
CLI::Option* add_pixels(CLI::App& app, loader::PixelType& pixels);
CLI::Option* add_mean(CLI::App& app, std::vector<double>& means);
CLI::Option* add_deviation(CLI::App& app, std::vector<double>& deviations);
/// "--threads", or another option for a number of threads.
CLI::Option* add_threads(CLI::App& app, const std::string& name, unsigned& threads,
                         const std::string& description);
/// The same, or "auto", which leaves `threads` as it is.
CLI::Option* add_threads(CLI::App& app, const std::string& name, unsigned& threads, bool& automatic,
                         const std::string& description);
CLI::Option* add_threads(CLI::App& app, const std::string& name, std::vector<unsigned>& threads,
                         const std::string& description);

}  // namespace feedrate::tools
