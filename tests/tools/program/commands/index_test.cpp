// `feedrate index` with the real binary.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "formats/io/file.h"
#include "tests/support/run_program.h"
#include "tests/support/sample_images.h"
#include "tools/program/cli/command.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using testing::feedrate;
using testing::make_examples;
using testing::Said;
using testing::TempDirectory;
using testing::write_dataset;

TEST(CommandsIndex, a_lost_index_is_rebuilt_and_named) {
  TempDirectory directory;
  write_dataset(container("recordio"), png_codec, directory / "set", make_examples({8, 6, 3}, 9));
  const std::string records = (directory / "set/data.rec").string();
  const std::string index = (directory / "set/data.idx").string();
  const std::string whole = read_text(index);
  std::filesystem::remove(index);
  const Said said = feedrate({"index", records});
  EXPECT_EQ(said.code, exit_done) << said.errors;
  EXPECT_EQ(said.output, index + "\n");
  EXPECT_EQ(read_text(index), whole);
  const auto object = nlohmann::json::parse(feedrate({"index", records, "--json"}).output);
  EXPECT_EQ(object.at("format"), "recordio");
  EXPECT_EQ(object.at("files").at(0), index);
}

TEST(CommandsIndex, a_new_index_does_not_make_a_dataset_whole_that_lost_samples) {
  TempDirectory directory;
  write_dataset(container("recordio"), png_codec, directory / "set", make_examples({8, 6, 3}, 9));
  Sidecar sidecar;
  sidecar.count = 10;
  write_sidecar(directory / "set", sidecar);
  const std::string set = (directory / "set").string();
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"index", set}, {"index", set, "--crops"}, {"load", set, "--epochs", "1"}}) {
    const Said said = feedrate(words);
    EXPECT_EQ(said.code, exit_failed) << words.front();
    EXPECT_NE(said.errors.find("expected the 10 samples that feedrate.json states, found 9"),
              std::string::npos)
        << said.errors;
  }
  EXPECT_FALSE(std::filesystem::exists(directory / "set/feedrate.crops"));
  EXPECT_EQ(feedrate({"inspect", set}).code, exit_done);
}

TEST(CommandsIndex, formats_without_an_index_and_directories_without_a_dataset_are_refused) {
  TempDirectory directory;
  write_dataset(container("lmdb"), png_codec, directory / "set", make_examples({8, 6, 3}, 2));
  const Said lmdb = feedrate({"index", (directory / "set").string()});
  EXPECT_EQ(lmdb.code, exit_failed);
  EXPECT_NE(lmdb.errors.find("lmdb needs no index"), std::string::npos) << lmdb.errors;
  const Said nothing = feedrate({"index", directory.path().string()});
  EXPECT_EQ(nothing.code, exit_failed);
  EXPECT_NE(nothing.errors.find("holds some: set"), std::string::npos) << nothing.errors;
}

TEST(CommandsIndex, a_crop_index_is_made_used_and_reported) {
  TempDirectory directory;
  const std::string set = (directory / "set").string();
  write_dataset(container("folder"), jpeg_codec, set, make_examples({200, 180, 3}, 20, true));
  const auto index = nlohmann::json::parse(feedrate({"index", set, "--crops", "--json"}).output);
  EXPECT_EQ(index.at("files").at(0), set + "/feedrate.crops");
  EXPECT_EQ(index.at("crops").at("indexed"), 20);
  EXPECT_EQ(feedrate({"verify", set}).code, exit_done);
  const auto load = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"load", set, "--recipe", "imagenet-eval", "--json"});
    return nlohmann::json::parse(feedrate(more).output);
  };
  const auto with = load({}), without = load({"--no-crop-index"});
  EXPECT_EQ(with.at("digest"), without.at("digest"));
  EXPECT_EQ(with.at("crops").at("indexed"), 20);
  EXPECT_EQ(without.at("crops").at("indexed"), 0);
  EXPECT_LE(with.at("crops").at("mcus_read"), without.at("crops").at("mcus_read"));
  write_text(set + "/feedrate.crops", "FRCROPS\n");
  const Said cut = feedrate({"load", set, "--recipe", "imagenet-eval"});
  EXPECT_EQ(cut.code, exit_done);
  EXPECT_NE(cut.errors.find("--crops' makes it again"), std::string::npos) << cut.errors;
  EXPECT_NE(cut.output.find("without a crop index"), std::string::npos) << cut.output;
  const Said found = feedrate({"verify", set});
  EXPECT_EQ(found.code, exit_failed);
}

}  // namespace
}  // namespace feedrate::tools
