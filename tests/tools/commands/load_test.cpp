// `feedrate load` with the real binary.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "formats/base/cores.h"
#include "tests/support/places.h"
#include "tests/support/run_program.h"
#include "tests/support/sample_images.h"
#include "tools/cli/command.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using namespace testing;
using nlohmann::ordered_json;

/// 601 grey images in an LMDB.
class CommandsLoad : public ::testing::Test {
 protected:
  void SetUp() override {
    write_dataset(container("lmdb"), raw_codec, directory_ / "set",
                  make_examples({28, 28, 1}, 601));
  }

  std::string at(const std::string& name) const { return (directory_ / name).string(); }

  Said load(std::vector<std::string> options) const {
    std::vector<std::string> arguments{"load", at("set")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return feedrate(arguments);
  }

  ordered_json json(std::vector<std::string> options) const {
    options.emplace_back("--json");
    const Said said = load(options);
    EXPECT_EQ(said.code, exit_done) << said.errors;
    return said.code == exit_done ? ordered_json::parse(said.output) : ordered_json();
  }

 private:
  TempDirectory directory_;
};

TEST_F(CommandsLoad, ranks_share_an_epoch_and_last_decides_on_the_incomplete_batch) {
  for (const auto& [last, images] :
       {std::pair("partial", 601), std::pair("drop", 600), std::pair("wrap", 660)}) {
    int sum = 0;
    for (const char* rank : {"0", "1"}) {
      const ordered_json loaded =
          json({"--rank", rank, "--ranks", "2", "--batch", "30", "--last", last, "--no-digest"});
      sum += loaded.at("images").get<int>();
      EXPECT_EQ(loaded.at("state").dump(), R"({"seed":1,"epoch":1,"position":0})");
    }
    EXPECT_EQ(sum, images) << last;
  }
}

TEST_F(CommandsLoad, continues_from_a_state) {
  const ordered_json rest = json({"--from", "1:600", "--epochs", "1"});
  EXPECT_EQ(rest.at("images"), 1);
  EXPECT_EQ(rest.at("state").at("epoch"), 2);
  EXPECT_NE(rest.at("digest"), json({"--from", "2:600"}).at("digest"));
  EXPECT_EQ(json({"--from", "1:64"}).at("images"), 601 - 64);
}

TEST_F(CommandsLoad, batches_hold_the_pixels_that_were_asked_for) {
  std::set<std::string> digests;
  const std::vector<std::vector<std::string>> ways{
      {"--weights", "balanced", "--draws", "300"}, {"--groups", "4x8"}, {"--order", at("order")}};
  for (std::vector<std::string> one : ways) {
    one.insert(one.end(), {"--batch", "32", "--threads"});
    std::vector<std::string> four = one;
    one.emplace_back("0");
    four.emplace_back("4");
    EXPECT_EQ(json(one).at("digest"), json(four).at("digest")) << one.front();
  }
  const Said mixed =
      feedrate({"load", "--mix", at("set") + ":3," + at("set") + ":1", "--draws", "64", "--json"});
  ASSERT_EQ(mixed.code, exit_done) << mixed.errors;
  EXPECT_EQ(ordered_json::parse(mixed.output).at("images"), 64);
  const Said nothing = feedrate({"load"});
  EXPECT_EQ(nothing.code, exit_misused);
  EXPECT_NE(nothing.errors.find("PATH or --mix is required"), std::string::npos) << nothing.errors;
}

// The program beside the emulated device, as if that were the plug-in.
TEST_F(CommandsLoad, a_device_decodes_packed_jpegs_to_the_same_digest) {
  namespace fs = std::filesystem;
  const fs::path plugin = beside_this_program("libfeedrate_cuda_emulated.so");
  if (!fs::exists(plugin)) GTEST_SKIP() << "this build has no CUDA plug-in";
  write_dataset(container("recordio"), packed_codec, at("packed"), make_examples({40, 50, 3}, 5));
  const fs::path program = at("feedrate");
  fs::copy_file(program_under_test(), program);
  fs::create_symlink(plugin, at("libfeedrate_cuda.so"));
  std::vector<std::string> words{"load", at("packed"), "--batch", "2", "--json"};
  const Said usual = run_program(program, words);
  ASSERT_EQ(usual.code, exit_done) << usual.errors;
  words.insert(words.end(), {"--device", "cuda", "--decode", "device"});
  const Said said = run_program(program, words);
  ASSERT_EQ(said.code, exit_done) << said.errors;
  const auto expected = ordered_json::parse(usual.output), found = ordered_json::parse(said.output);
  EXPECT_EQ(found.at("digest"), expected.at("digest"));
  EXPECT_EQ(found.at("pixels"), "packed");
  EXPECT_TRUE(expected.at("device").is_null());
  const ordered_json& device = found.at("device");
  EXPECT_EQ(device.at("images"), 5);
  EXPECT_EQ(device.at("packed"), 5);
  EXPECT_EQ(device.at("too_large"), 0);
  EXPECT_EQ(device.at("pixel_bytes"), 5 * 40 * 50 * 3);
  EXPECT_GT(device.at("uploaded_bytes"), 5 * 500);
  words.erase(std::ranges::find(words, "--json"));
  EXPECT_NE(run_program(program, words).output.find("cuda decoded 5 of 5 images; "),
            std::string::npos);
}

TEST_F(CommandsLoad, without_a_device_the_command_says_why_not) {
  const Said said = load({"--device", "cuda", "--decode", "device"});
  if (said.code == exit_done) GTEST_SKIP() << "this machine has a device";
  EXPECT_EQ(said.code, exit_failed);
  EXPECT_NE(said.errors.find("device cuda: "), std::string::npos) << said.errors;
}

TEST_F(CommandsLoad, contradictory_options_are_misuse) {
  const std::vector<std::vector<std::string>> mistakes{{"--rank", "1"},
                                                       {"--rank", "2", "--ranks", "2"},
                                                       {"--from", "one"},
                                                       {"--from", "1:2:3"},
                                                       {"--last", "first"},
                                                       {"--decode", "device"},
                                                       {"--device", "cuda"},
                                                       {"--threads", "many"},
                                                       {"--draws", "5"},
                                                       {"--mix", "a:1,b:1"},
                                                       {"--groups", "2x2", "--weights", "balanced"},
                                                       {"--no-shuffle", "--shuffle-window", "9"}};
  for (const auto& mistake : mistakes) {
    const Said said = load(mistake);
    EXPECT_EQ(said.code, exit_misused) << mistake.front() << said.errors;
    EXPECT_NE(said.errors.find(mistake.front()), std::string::npos) << said.errors;
  }
}

}  // namespace
}  // namespace feedrate::tools
