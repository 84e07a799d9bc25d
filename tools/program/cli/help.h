#pragma once
// The options of commands, most of them made from rows of settings, and those that have the same
// meaning in several commands.

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/setting.h"
#include "loader/loader.h"
#include "tools/console/decode.h"
#include "tools/program/cli/command.h"
#include "trainer/settings.h"

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

/// Gives an option sentences that only --help and man have. Commands have theirs in Command::details.
void explain(CLI::App& app, const CLI::Option* option, std::string_view detail);

/// Of --epochs: a shell always gives a number.
inline constexpr std::string_view epochs_counted =
    "A run that resumes counts the epochs before its start.";

/// An option that sets what the row describes: "--io-threads" for io_threads, "--no-shuffle" for a
/// flag that says what it does without. Help shows the value at this moment as the default, unless
/// the row itself would refuse it. A value that the row refuses is misuse.
CLI::Option* add_option(CLI::App& app, const formats::BoundSetting& setting);
template <class Member>
CLI::Option* add_option(CLI::App& app, const formats::Setting& row, Member& member) {
  return add_option(app, formats::bound(row, member));
}
/// An argument, which stands for itself: "SOURCE".
CLI::Option* add_argument(CLI::App& app, const std::string& name, const formats::Setting& row,
                          std::string& value);

/// These members of a table of settings, in this order: "--threads", "--batch" …
template <class Settings>
void add_settings(CLI::App& app, Settings& settings, std::initializer_list<const void*> members) {
  const std::vector<formats::BoundSetting> all = formats::bound_settings(settings);
  for (const void* member : members) {
    for (const formats::BoundSetting& one : all) {
      if (one.member == member) add_option(app, one);
    }
  }
}

/// Several values of a row, separated by commas; whole numbers also as ranges, "0-4,8".
CLI::Option* add_list(CLI::App& app, const formats::BoundList& list);

CLI::Option* add_json(CLI::App& app, bool& json);
/// Threads of anything but a loader, with a description of their own. 0: every core.
CLI::Option* add_threads(CLI::App& app, unsigned& threads, std::string_view description);

/// Throws Error where a device is to decode and is the CPU, or is to give other values than pixels.
void check_device_decode(Decode decode, const std::string& device, loader::PixelType pixels);
/// Throws Error where compute threads are asked of a device that has none of them.
void check_compute_threads(const trainer::DeviceSettings& device);

}  // namespace feedrate::tools
