// `feedrate load` with the real binary.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "formats/base/cores.h"
#include "tests/support/emulated_program.h"
#include "tests/support/run_program.h"
#include "tests/support/sample_images.h"
#include "tools/program/cli/command.h"

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
  for (const auto& [last, images] : {std::pair("partial", 601), std::pair("drop", 576),
                                     std::pair("wrap", 640), std::pair("pad", 602)}) {
    int sum = 0, repeated = 0;
    for (const char* rank : {"0", "1"}) {
      const ordered_json loaded =
          json({"--rank", rank, "--ranks", "2", "--batch", "32", "--last", last, "--no-digest"});
      sum += loaded.at("images").get<int>();
      repeated += loaded.at("repeated_images").get<int>();
      EXPECT_EQ(loaded.at("state").dump(), R"({"seed":1,"epoch":1,"position":0})");
    }
    EXPECT_EQ(sum, images) << last;
    EXPECT_EQ(repeated, std::max(0, images - 601)) << last;
  }
  const Said uneven = load({"--rank", "0", "--ranks", "2", "--batch", "30"});
  EXPECT_EQ(uneven.code, exit_failed);
  EXPECT_NE(uneven.errors.find("leave 1, too few for every rank"), std::string::npos)
      << uneven.errors;
}

TEST_F(CommandsLoad, continues_from_a_state) {
  const ordered_json rest = json({"--from", "1:600"});
  EXPECT_EQ(rest.at("images"), 1);
  EXPECT_EQ(rest.at("state").at("epoch"), 2);
  EXPECT_EQ(json({"--from", "1:600", "--epochs", "3"}).at("images"), 1 + 601)
      << "--epochs counts those before --from";
  const Said behind = load({"--from", "2:5", "--epochs", "2"});
  EXPECT_EQ(behind.code, exit_misused);
  EXPECT_NE(behind.errors.find(
                "--epochs 2 leaves nothing to load: it counts the epochs before --from 2:5"),
            std::string::npos)
      << behind.errors;
  EXPECT_NE(rest.at("digest"), json({"--from", "2:600"}).at("digest"));
  EXPECT_EQ(json({"--from", "1:64"}).at("images"), 601 - 64);
  for (const std::vector<std::string>& line :
       {std::vector<std::string>{"--from", "1:600", "--last", "drop"}, {"--from", "1:601"}}) {
    const ordered_json nothing = json(line);
    EXPECT_EQ(nothing.at("images"), 0);
    EXPECT_EQ(nothing.at("state").dump(), R"({"seed":1,"epoch":2,"position":0})");
  }
}

TEST_F(CommandsLoad, batches_hold_the_pixels_that_were_asked_for) {
  std::set<std::string> digests;
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--pixels", "u8"},
        {"--pixels", "f32"},
        {"--pixels", "f16"},
        {"--pixels", "f32", "--mean", "33", "--deviation", "78"}}) {
    std::vector<std::string> words = options;
    words.insert(words.end(), {"--threads", "0"});
    const ordered_json reference = json(words);
    EXPECT_EQ(reference.at("pixels"), options[1]);
    EXPECT_EQ(reference.at("layout"), options[1] == "u8" ? "nhwc" : "nchw");
    EXPECT_EQ(reference.at("images"), 601);
    words.back() = "4";
    EXPECT_EQ(json(words).at("digest"), reference.at("digest")) << options[1];
    digests.insert(reference.at("digest"));
  }
  EXPECT_EQ(digests.size(), 4U);
  EXPECT_EQ(json({}).at("digest"), json({"--pixels", "u8"}).at("digest"));
}

TEST_F(CommandsLoad, means_that_do_not_fit_are_refused) {
  EXPECT_EQ(load({"--pixels", "f64"}).code, exit_misused);
  EXPECT_EQ(load({"--layout", "hwc"}).code, exit_misused);
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--mean", "3"}, {"--pixels", "u8", "--deviation", "3"}}) {
    const Said said = load(options);
    EXPECT_EQ(said.code, exit_misused);
    EXPECT_NE(said.errors.find("--pixels"), std::string::npos) << said.errors;
  }
  const Said said = load({"--pixels", "f32", "--mean", "1,2,3"});
  EXPECT_EQ(said.code, exit_failed);
  EXPECT_NE(said.errors.find("3 means for images of 1 channel"), std::string::npos) << said.errors;
}

TEST_F(CommandsLoad, a_file_that_cannot_be_written_is_refused_before_the_run) {
  for (const char* option : {"--trace", "--quarantine"}) {
    for (const auto& [place, reason] :
         {std::pair(at("absent/file"), "cannot create"), std::pair(at("set"), "is a directory"),
          std::pair(at("set/new"), "would write into")}) {
      const auto start = std::chrono::steady_clock::now();
      const Said said = load({option, place, "--seconds", "20", "--no-digest"});
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      EXPECT_EQ(said.code, exit_failed);
      EXPECT_NE(said.errors.find(place + ": "), std::string::npos) << said.errors;
      EXPECT_NE(said.errors.find(reason), std::string::npos) << said.errors;
      EXPECT_LT(taken.count(), 15) << option << " was checked only after the run";
    }
  }
}

TEST_F(CommandsLoad, datasets_of_a_mix_are_not_written_over) {
  const Said said = feedrate({"load", "--mix", at("set") + ":1," + at("set") + ":2", "--trace",
                              at("set/data.mdb"), "--no-digest"});
  EXPECT_EQ(said.code, exit_failed);
  EXPECT_NE(said.errors.find("would write into"), std::string::npos) << said.errors;
}

TEST_F(CommandsLoad, shuffle_window_and_no_shuffle_change_the_order) {
  std::set<std::string> digests;
  digests.insert(json({}).at("digest"));
  digests.insert(json({"--shuffle-window", "50"}).at("digest"));
  digests.insert(json({"--no-shuffle"}).at("digest"));
  EXPECT_EQ(digests.size(), 3U);
}

TEST_F(CommandsLoad, bad_samples_follow_the_policy_and_are_listed_with_their_place) {
  write_dataset(container("recordio"), png_codec, at("png"), make_examples({28, 28, 1}, 100));
  std::string records = slurp(at("png/data.rec"));
  const std::size_t image = records.find("IDAT", records.size() / 2);
  ASSERT_NE(image, std::string::npos);
  records.replace(image + 8, 20, 20, '\xff');
  std::ofstream(at("png/data.rec"), std::ios::binary) << records;

  const std::vector<std::string> whole{"load", at("png"), "--json"};
  const Said failed = feedrate(whole);
  EXPECT_EQ(failed.code, exit_failed);
  EXPECT_NE(failed.errors.find("sample "), std::string::npos) << failed.errors;
  EXPECT_NE(failed.errors.find("\n'feedrate verify PATH' names"), std::string::npos)
      << failed.errors;
  for (const auto& [policy, images] : {std::pair("skip", 99), std::pair("replace", 100)}) {
    std::set<std::string> digests;
    for (const char* threads : {"0", "1", "4"}) {
      std::vector<std::string> words = whole;
      words.insert(words.end(),
                   {"--on-bad", policy, "--threads", threads, "--quarantine", at("bad.tsv")});
      const Said said = feedrate(words);
      ASSERT_EQ(said.code, exit_done) << said.errors;
      const ordered_json loaded = ordered_json::parse(said.output);
      EXPECT_EQ(loaded.at("images"), images);
      EXPECT_EQ(loaded.at("bad").dump(), R"({"samples":1,"seats":1})");
      digests.insert(loaded.at("digest"));
    }
    EXPECT_EQ(digests.size(), 1U);
    EXPECT_NE(slurp(at("bad.tsv")).find("data.rec\t"), std::string::npos) << slurp(at("bad.tsv"));
  }
  std::vector<std::string> words = whole;
  words.insert(words.end(), {"--on-bad", "skip", "--bad-budget", "0"});
  const Said over = feedrate(words);
  EXPECT_EQ(over.code, exit_failed);
  EXPECT_NE(over.errors.find("1 bad sample, more than the 0"), std::string::npos) << over.errors;
}

TEST_F(CommandsLoad, auto_finds_threads_within_the_available_cores) {
  const ordered_json fixed = json({"--threads", "2"});
  EXPECT_TRUE(fixed.at("auto").is_null());
  const ordered_json found = json({"--threads", "auto", "--seconds", "2", "--emulate", "2000"});
  EXPECT_EQ(found.at("digest"), fixed.at("digest"));
  EXPECT_EQ(found.at("threads"), 1) << found;
  EXPECT_EQ(found.at("auto").at("knee"), 1);
  EXPECT_LE(found.at("auto").at("most"), usable_cores());
  EXPECT_GT(found.at("auto").at("need"), 0);
  const Said said = load({"--threads", "auto"});
  EXPECT_NE(said.output.find("auto: "), std::string::npos) << said.output;
  EXPECT_GT(found.at("peak_rss_bytes"), 1'000'000);
}

// Where a thread cannot be started, others have been, which must end first.
TEST_F(CommandsLoad, in_any_memory_it_ends_by_itself_and_says_why) {
  write_dataset(container("recordio"), raw_codec, at("large"), make_examples({28, 28, 1}, 20'000));
  std::vector<int> limits{150'000, 200'000, 300'000};
  for (int kib = 80'000; kib <= 110'000; kib += 500) limits.push_back(kib);  // where threads start
  for (const int kib : limits) {
    const Said said =
        run_program("sh", {"-c",
                           "ulimit -v " + std::to_string(kib) +
                               R"( && exec timeout 60 "$0" load "$1" --threads 60 --no-digest)",
                           program_under_test(), at("large")});
    EXPECT_EQ(said.signal, 0) << kib;
    // 127: not even the libraries have room.
    EXPECT_TRUE(said.code == exit_done || said.code == exit_failed || said.code == 127)
        << kib << ": " << said.code << said.errors;
    EXPECT_TRUE(said.code == exit_done || !said.errors.empty()) << kib;
  }
}

TEST_F(CommandsLoad, cold_data_comes_from_the_disk_and_is_the_same) {
  const ordered_json warm = json({});
  EXPECT_TRUE(warm.at("in_memory").is_null());
  EXPECT_LT(warm.at("storage_bytes"), 601 * 784);
  const ordered_json cold = json({"--cold"});
  EXPECT_EQ(cold.at("digest"), warm.at("digest"));
  if (cold.at("in_memory") == 1) GTEST_SKIP() << "a file system in memory";
  EXPECT_LE(cold.at("in_memory"), 0.05);
  EXPECT_GE(cold.at("storage_bytes"), 601 * 784);
  EXPECT_NE(load({"--cold"}).output.find("cold: 0.0 % of the dataset was in memory"),
            std::string::npos);
}

TEST_F(CommandsLoad, an_epoch_holds_what_was_asked_for) {
  std::ofstream(at("order")) << "7\n3\n7\n600\n";
  const std::vector<std::vector<std::string>> ways{
      {"--weights", "balanced", "--draws", "300"}, {"--groups", "4x8"}, {"--order", at("order")}};
  for (std::vector<std::string> one : ways) {
    one.insert(one.end(), {"--batch", "32", "--threads"});
    std::vector<std::string> four = one;
    one.emplace_back("0");
    four.emplace_back("4");
    EXPECT_EQ(json(one).at("digest"), json(four).at("digest")) << one.front();
  }
  EXPECT_EQ(json({"--order", at("order")}).at("images"), 4);
  const Said mixed =
      feedrate({"load", "--mix", at("set") + ":3," + at("set") + ":1", "--draws", "64", "--json"});
  ASSERT_EQ(mixed.code, exit_done) << mixed.errors;
  EXPECT_EQ(ordered_json::parse(mixed.output).at("images"), 64);
  const Said nothing = feedrate({"load"});
  EXPECT_EQ(nothing.code, exit_misused);
  EXPECT_NE(nothing.errors.find("PATH or --mix is required"), std::string::npos) << nothing.errors;
}

TEST_F(CommandsLoad, a_device_decodes_packed_jpegs_to_the_same_digest) {
  const auto program = program_with_emulated_device(at(""));
  if (!program) GTEST_SKIP() << "this build has no CUDA plug-in";
  write_dataset(container("recordio"), packed_codec, at("packed"), make_examples({40, 50, 3}, 5));
  std::vector<std::string> words{"load", at("packed"), "--batch", "2", "--json"};
  const Said usual = run_program(*program, words);
  ASSERT_EQ(usual.code, exit_done) << usual.errors;
  words.insert(words.end(), {"--device", "cuda", "--decode", "device"});
  const Said said = run_program(*program, words);
  ASSERT_EQ(said.code, exit_done) << said.errors;
  const auto expected = ordered_json::parse(usual.output), found = ordered_json::parse(said.output);
  EXPECT_EQ(found.at("digest"), expected.at("digest"));
  EXPECT_EQ(found.at("pixels"), "packed");
  EXPECT_EQ(found.at("decode"), "device");
  EXPECT_EQ(expected.at("decode"), "full");
  EXPECT_TRUE(expected.at("device").is_null());
  const ordered_json& device = found.at("device");
  EXPECT_EQ(device.at("images"), 5);
  EXPECT_EQ(device.at("packed"), 5);
  EXPECT_EQ(device.at("too_large"), 0);
  EXPECT_EQ(device.at("pixel_bytes"), 5 * 40 * 50 * 3);
  EXPECT_GT(device.at("uploaded_bytes"), 5 * 500);
  words.erase(std::ranges::find(words, "--json"));
  EXPECT_NE(run_program(*program, words).output.find("cuda decoded 5 of 5 images; "),
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
                                                       {"--decode", "scaled"},
                                                       {"--threads", "many"},
                                                       {"--draws", "5"},
                                                       {"--shuffle-window", "9", "--groups", "2x2"},
                                                       {"--mix", "a:1,b:1"},
                                                       {"--groups", "2x2", "--weights", "balanced"},
                                                       {"--no-shuffle", "--shuffle-window", "9"},
                                                       {"--no-shuffle", "--groups", "2x2"}};
  for (const auto& mistake : mistakes) {
    const Said said = load(mistake);
    EXPECT_EQ(said.code, exit_misused) << mistake.front() << said.errors;
    EXPECT_NE(said.errors.find(mistake.front()), std::string::npos) << said.errors;
  }
}

}  // namespace
}  // namespace feedrate::tools
