// `feedrate mean` with the real binary.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "formats/means/mean_format.h"
#include "tests/support/run_program.h"
#include "tests/support/sample_images.h"
#include "tools/program/cli/command.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using nlohmann::ordered_json;
using testing::feedrate;
using testing::make_examples;
using testing::Said;
using testing::TempDirectory;
using testing::write_dataset;

class CommandsMean : public ::testing::Test {
 protected:
  std::string at(const std::string& name) const { return (directory_.path() / name).string(); }

  static ordered_json mean_of(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "mean");
    arguments.emplace_back("--json");
    const Said said = feedrate(arguments);
    EXPECT_EQ(said.code, exit_done) << said.errors;
    return ordered_json::parse(said.output);
  }

 private:
  TempDirectory directory_;
};

TEST_F(CommandsMean, prints_the_channels_and_writes_the_mean_image) {
  write_dataset(container("recordio"), png_codec, at("set"), make_examples({8, 6, 3}, 40));
  for (const char* name : {"m.binaryproto", "m.xml", "m.nd"}) {
    const ordered_json object = mean_of({at("set"), "--out", at(name)});
    EXPECT_EQ(object.at("images"), 40);
    EXPECT_EQ(object.at("shape").at("width"), 6);
    ASSERT_EQ(object.at("mean").size(), 3U);
    EXPECT_DOUBLE_EQ(object.at("unit_mean")[0], object.at("mean")[0].get<double>() / 255);
    EXPECT_GT(object.at("deviation")[2], 10);
    const MeanImage mean = read_mean(at(name));
    EXPECT_EQ(mean.shape, (Shape{8, 6, 3}));
    double green = 0;
    for (std::size_t i = 1; i < mean.values.size(); i += 3) green += mean.values[i] / 48;
    EXPECT_NEAR(green, object.at("mean")[1].get<double>(), 1e-4) << name;
  }
  EXPECT_EQ(mean_of({at("set")}).at("file"), nullptr);
}

TEST_F(CommandsMean, a_raw_lmdb_without_names_gives_caffe_its_planes_in_the_lmdb_s_order) {
  write_dataset(container("lmdb"), raw_codec, at("bare"), make_examples({8, 6, 3}, 5));
  write_dataset(container("lmdb"), raw_codec, at("named"), make_examples({8, 6, 3}, 5, true));
  EXPECT_EQ(mean_of({at("bare"), "--out", at("a.binaryproto")}).at("layout"), "planes R, G, B");
  EXPECT_EQ(mean_of({at("named"), "--out", at("b.binaryproto")}).at("layout"), "planes B, G, R");
  EXPECT_EQ(read_mean(at("a.binaryproto"), MeanLayout::planar_rgb).values,
            read_mean(at("b.binaryproto")).values);
}

TEST_F(CommandsMean, one_format_is_converted_into_another) {
  write_dataset(container("png-map"), png_codec, at("set"), make_examples({8, 6, 3}, 5));
  mean_of({at("set"), "--out", at("m.nd")});
  const ordered_json object = mean_of({at("m.nd"), "--out", at("m.binaryproto")});
  EXPECT_TRUE(object.at("images").is_null());
  EXPECT_TRUE(object.at("deviation").is_null());
  EXPECT_EQ(read_mean(at("m.binaryproto")).values, read_mean(at("m.nd")).values);
}

TEST_F(CommandsMean, an_output_that_cannot_be_written_is_refused) {
  auto examples = make_examples({8, 6, 3}, 3);
  examples.push_back(make_examples({6, 8, 1}, 1).front());
  write_dataset(container("recordio"), png_codec, at("set"), examples);
  const auto refused = [&](const std::string& out, std::string_view part, int code = exit_failed) {
    const Said said = feedrate({"mean", at("set"), "--out", out});
    EXPECT_EQ(said.code, code);
    EXPECT_NE(said.errors.find(part), std::string::npos) << said.errors;
    EXPECT_FALSE(std::filesystem::exists(out));
  };
  refused(at("m.npy"), ".binaryproto (caffe), .xml (cntk), .nd (mxnet)", exit_misused);
  refused(at("no/where.nd"), "no/where.nd");
  refused(at("m.nd"), "several sizes");
  const Said said = feedrate({"mean", at("set")});
  EXPECT_EQ(said.code, exit_done);
  EXPECT_NE(said.output.find("4 images of several sizes"), std::string::npos) << said.output;
  EXPECT_NE(said.output.find("green"), std::string::npos) << said.output;
}

}  // namespace
}  // namespace feedrate::tools
