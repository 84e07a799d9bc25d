// `feedrate convert` with the real binary: what its options refuse and what it says.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "formats/sidecar.h"
#include "tests/support/in_text.h"
#include "tests/support/run_program.h"
#include "tests/support/sample_images.h"
#include "tools/program/cli/command.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using namespace testing;

class CommandsConvert : public ::testing::Test {
 protected:
  void SetUp() override {
    write_dataset(container("folder"), jpeg_codec, directory_ / "in",
                  make_examples({32, 48, 3}, 20, true));
  }
  std::string at(const std::string& name) const { return (directory_ / name).string(); }
  Said convert(const std::vector<std::string>& more) const {
    std::vector<std::string> words{"convert",    "folder", at("in"), "--to",
                                   "webdataset", "--out",  at("out")};
    words.insert(words.end(), more.begin(), more.end());
    return testing::feedrate(words);
  }

  TempDirectory directory_;
};

TEST_F(CommandsConvert, joining_prints_the_object_of_a_conversion) {
  for (const char* part : {"1/2", "2/2"}) {
    const Said said = convert({"--shards", "4", "--part", part});
    ASSERT_EQ(said.code, exit_done) << said.errors;
  }
  const Said said = testing::feedrate({"convert", "--join", at("out"), "--json"});
  ASSERT_EQ(said.code, exit_done) << said.errors;
  const auto object = nlohmann::json::parse(said.output);
  EXPECT_EQ(object.at("source"), "folder");
  EXPECT_EQ(object.at("format"), "webdataset");
  const auto& split = object.at("splits").at(0);
  EXPECT_EQ(split.at("path"), at("out"));
  EXPECT_EQ(split.at("samples"), 20);
  EXPECT_EQ(split.at("bytes_digest"), read_sidecar(at("out"))->bytes_digest);
}

// Each such name is a directory here, and a file in another format.
TEST_F(CommandsConvert,
       classes_called_as_the_files_of_other_formats_make_a_folder_that_can_be_opened) {
  std::filesystem::remove_all(at("in"));
  const std::vector<std::string> names{"data.mdb",  "data.rec",         "labels.txt",
                                       "map.txt",   "train-000000.tar", "train-00000-of-00001",
                                       "train.idx", "train_map.txt"};
  const std::vector<Example> images =
      make_examples({32, 48, 3}, static_cast<std::uint32_t>(2 * names.size()));
  write_dataset(container("folder"), png_codec, directory_ / "made", images);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_ / "made"))
    if (entry.path().extension() == ".png") files.push_back(entry.path());
  ASSERT_EQ(files.size(), images.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::filesystem::path to = directory_ / "in" / names[i / 2];
    std::filesystem::create_directories(to);
    std::filesystem::copy_file(files[i], to / (std::to_string(i) + ".png"));
  }
  for (const char* format : {"folder", "lmdb"}) {
    const std::string out = at(format);
    Said said = testing::feedrate({"convert", "folder", at("in"), "--to", format, "--out", out});
    ASSERT_EQ(said.code, exit_done) << said.errors;
    said =
        testing::feedrate({"convert", "dataset", out, "--to", "folder", "--out", out + "-again"});
    ASSERT_EQ(said.code, exit_done) << said.errors;
    const Said verified = testing::feedrate({"verify", out + "-again", "--against", out});
    EXPECT_EQ(verified.code, exit_done) << verified.errors << verified.output;
    for (const std::string& name : names)
      EXPECT_TRUE(std::filesystem::is_directory(out + "-again/" + name)) << name;
  }
}

TEST_F(CommandsConvert, joining_takes_no_option_that_it_would_ignore) {
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--to", "lmdb"}, {"--crops"}, {"--shuffle", "7"}, {"--resume"}, {"mnist", at("in")}}) {
    std::vector<std::string> words{"convert", "--join", at("out")};
    words.insert(words.end(), more.begin(), more.end());
    const Said said = testing::feedrate(words);
    EXPECT_EQ(said.code, exit_misused) << more.front();
    EXPECT_TRUE(has(said.errors, "exclude one another")) << said.errors;
  }
}

TEST_F(CommandsConvert, it_says_whether_the_jpegs_that_it_kept_were_checked) {
  const Said checked = convert({});
  EXPECT_TRUE(has(checked.output, "JPEGs were checked")) << checked.output << checked.errors;
  std::filesystem::remove_all(at("out"));
  EXPECT_TRUE(has(convert({"--no-check"}).output, "JPEGs were not checked"));
}

TEST_F(CommandsConvert, boxes_need_a_format_that_holds_them) {
  const Said said = feedrate(
      {"convert", "imagenet", at("in"), "--boxes", at("in"), "--to", "lmdb", "--out", at("out")});
  EXPECT_EQ(said.code, exit_failed);
  EXPECT_TRUE(has(said.errors, "lmdb holds no bounding boxes")) << said.errors;
}

}  // namespace
}  // namespace feedrate::tools
