#pragma once
// The options of commands: checks of their values, the values that they offer, and the options that
// have the same meaning in several commands.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loader/batch.h"
#include "loader/engine/workers.h"
#include "loader/loader.h"
#include "tools/console/decode.h"
#include "tools/program/cli/command.h"

namespace CLI {
class Option;
}

namespace feedrate::tools {

/// A command whose options are declared, and its work. Every option refuses an empty value:
/// otherwise an unset variable in a script would silently turn off an option such as --checkpoint.
struct Prepared {
  std::shared_ptr<CLI::App> app;
  std::function<int()> work;
};
Prepared prepared(const Command& command);

/// Shows these values in the completion of shells; others are accepted, too.
CLI::Option* offer(CLI::Option* option, const std::vector<std::string>& words);
/// The values that offer() or a check of words has set.
std::vector<std::string> offered_words(const CLI::Option& option);
/// What help calls the value: "FILE".
std::string type_of(const CLI::Option& option);

/// Accepts only these words.
CLI::Option* check_words(CLI::Option* option, const std::vector<std::string>& words);
/// Accepts only names of a registry: `what` they are ("network"), and the list of 'feedrate list'
/// that explains them, or "". A refusal says which name is near.
struct Names {
  std::string_view what;
  std::string_view list;
  std::vector<std::string_view> all;
};
CLI::Option* check_names(CLI::Option* option, const Names& names);
Names network_names();
Names recipe_names();
Names device_names();

/// Checks of numbers; a refusal says what was expected. Unlike the parser, they refuse a sign
/// before a whole number, nan and infinity.
CLI::Option* check_whole(CLI::Option* option, std::uint64_t min,
                         std::uint64_t max = std::numeric_limits<std::uint64_t>::max());
CLI::Option* check_number(CLI::Option* option);
CLI::Option* check_positive(CLI::Option* option);
CLI::Option* check_not_negative(CLI::Option* option);

CLI::Option* add_json(CLI::App& app, bool& json);
/// A file or directory that the command writes in addition to its output on stdout.
CLI::Option* add_output(CLI::App& app, const std::string& name, std::filesystem::path& path,
                        const std::string& description, const std::string& place = "FILE");
/// A name of a registry. Help shows its default.
CLI::Option* add_name(CLI::App& app, const std::string& option, std::string& name,
                      const Names& known, const std::string& description);
/// Several names, separated by commas.
CLI::Option* add_names(CLI::App& app, const std::string& option, std::vector<std::string>& names,
                       const Names& known, const std::string& description);
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
/// "--decode": full, scaled or device.
CLI::Option* add_decode(CLI::App& app, Decode& decode);
/// Throws CLI::ValidationError where images are decoded scaled for a recipe that does not shrink
/// them.
void check_decode(Decode decode, const std::string& recipe);
/// Throws CLI::ValidationError where a device is to decode and is the CPU, or is to give other values
/// than pixels.
void check_device_decode(Decode decode, const std::string& device, loader::PixelType pixels);
CLI::Option* add_mean(CLI::App& app, std::vector<double>& means);
CLI::Option* add_deviation(CLI::App& app, std::vector<double>& deviations);
/// "--no-crop-index", which sets `used` to false.
CLI::Option* add_no_crop_index(CLI::App& app, bool& used);
/// Far above the cores of any machine: a larger number is a typo and would only exhaust memory.
inline constexpr unsigned max_threads = 1024;
/// oneTBB starts no more.
inline constexpr unsigned max_loader_threads = loader::max_loader_threads;

/// "--threads", or another option for a number of threads that compute.
CLI::Option* add_threads(CLI::App& app, const std::string& name, unsigned& threads,
                         const std::string& description);
/// Loader threads, or "auto", which leaves `threads` as it is.
CLI::Option* add_threads(CLI::App& app, const std::string& name, unsigned& threads, bool& automatic,
                         const std::string& description);
/// Loader threads: several numbers and ranges, "0-4,8".
CLI::Option* add_threads(CLI::App& app, const std::string& name, std::vector<unsigned>& threads,
                         const std::string& description);

}  // namespace feedrate::tools
