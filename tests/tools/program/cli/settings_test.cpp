// The tables of settings and what is made from them agree: the shell's options (and with them help,
// manual pages and completions, which are all made from a command's Page) and the keys of plans.

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>

#include "formats/remote/settings.h"
#include "loader/settings.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"
#include "tools/lab/bench/plan_file.h"
#include "tools/lab/bench/settings.h"
#include "tools/program/cli/help.h"
#include "tools/program/cli/page.h"
#include "trainer/settings.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using testing::expect_error;

const Command& command(std::string_view name) {
  return **std::ranges::find(commands(), name, &Command::name);
}

class UnitSettingsFaces : public ::testing::Test {
 protected:
  void open(std::string_view name) {
    command_ = &command(name);
    page_ = page_of(*command_);
    operand_ = name == "convert" ? "mnist" : "lenet";  // a source; a path or a network
  }

  /// The command has the option that the row describes, and refuses what the row refuses.
  void expect_option(const Setting& row, std::string_view value) const {
    const std::string name = spelled(row, Spelling::shell);
    const auto option = std::ranges::find_if(page_.rows, [&](const OptionRow& one) {
      return std::ranges::find(one.names, name) != one.names.end();
    });
    ASSERT_NE(option, page_.rows.end()) << page_.name << " has no " << name;
    EXPECT_EQ(option->value.empty(), row.kind == SettingKind::flag) << name;
    const bool without = !row.without.empty();
    EXPECT_TRUE(option->description.starts_with(without ? row.without : row.sentence))
        << name << ": " << option->description;
    if (!value.empty() && row.kind != SettingKind::flag) {
      EXPECT_TRUE(option->description.ends_with(join("(default ", value, ")")))
          << name << ": " << option->description;
    }
    for (const std::string_view word : row.words) {
      EXPECT_NE(std::ranges::find(option->words, word), option->words.end()) << name << word;
    }
    expect_limits(name, row);
  }

  void expect_limits(const std::string& name, const Setting& row) const {
    const auto refused = [&](const std::string& value) {
      std::vector<std::string> words{value, name, operand_};  // the last one first
      expect_error([&] { prepared(*command_).app->parse(words); },
                   {refusal(row, join("'", value, "'"))});
    };
    if (row.kind == SettingKind::whole && row.max != Setting::unlimited) {
      refused(std::to_string(row.max + 1));
    }
    if (row.kind == SettingKind::whole && row.min > 0) refused(std::to_string(row.min - 1));
    if (row.kind == SettingKind::real) refused("nan");
    if (row.kind == SettingKind::word) refused("no-such-word");
  }

 private:
  const Command* command_ = nullptr;
  std::string operand_;
  Page page_;
};

TEST_F(UnitSettingsFaces, load_has_every_setting_of_a_loader) {
  open("load");
  loader::LoaderSettings settings{.threads = 2};  // which the command says itself
  for (const BoundSetting& one : bound_settings(settings)) {
    // A device can decode, too, which is more than a loader does.
    expect_option(one.row.name == "decode" ? typed(decode_row, Decode::full) : one.row, one.value);
  }
}

TEST_F(UnitSettingsFaces, train_has_every_setting_of_a_training_and_of_its_device) {
  open("train");
  trainer::TrainSettings training;
  for (const BoundSetting& one : bound_settings(training)) expect_option(one.row, one.value);
  trainer::DeviceSettings device;
  for (const BoundSetting& one : bound_settings(device)) expect_option(one.row, one.value);
}

TEST_F(UnitSettingsFaces, a_device_is_set_in_the_same_way_wherever_something_is_computed) {
  trainer::DeviceSettings device;
  open("time");
  for (const BoundSetting& one : bound_settings(device)) expect_option(one.row, one.value);
}

TEST_F(UnitSettingsFaces, servers_are_set_in_the_same_way_wherever_a_url_may_stand) {
  RemoteSettings remote;
  for (const char* name :
       {"load", "train", "bench", "verify", "inspect", "mean", "advise", "convert"}) {
    open(name);
    for (const BoundSetting& one : bound_settings(remote)) expect_option(one.row, one.value);
  }
}

TEST_F(UnitSettingsFaces, plans_and_options_of_bench_take_the_same_values) {
  open("bench");
  const testing::TempDirectory directory;
  const auto plan_refuses = [&](std::string_view key, const std::string& value,
                                const std::string& words) {
    const auto path = directory / "plan.json";
    std::ofstream(path) << join("{\"datasets\": \"a\", \"", key, "\": ", value, "}");
    expect_error([&] { read_plan(path); }, {join(key, ": "), words});
  };
  BenchOptions options;
  for_each_list(options, [&](std::string_view key, const Setting& plain, auto& list) {
    if (key == "emulated") return;  // its names are those of --rates, which a plan does not know
    const Setting row = bound_list(plain, list).row;
    if (row.kind != SettingKind::whole) {
      return plan_refuses(key, "\"no-such-name\"", "no-such-name");
    }
    const std::string large = std::to_string(row.max + 1);
    plan_refuses(key, large, refusal(row, large));
  });
  for (const BoundSetting& one : bound_settings(options)) {
    expect_option(one.row, one.value);
    const bool is_text = one.row.kind == SettingKind::name;
    plan_refuses(one.row.name, "-1",
                 is_text ? "expected a name in quotes, found -1" : refusal(one.row, "-1"));
  }
}

TEST_F(UnitSettingsFaces, trainings_refuse_scales_of_pixels_from_0_to_1) {
  expect_error([] { trainer::changed({}, {.mean = {0.5}}, Spelling::shell); },
               {"--mean is of pixels from 0 to 255: multiply"});
}

}  // namespace
}  // namespace feedrate::tools
