// `convert dataset A B` reads its inputs as one set.

#include <gtest/gtest.h>

#include "converters/source.h"
#include "formats/container.h"
#include "tests/support/expect_error.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
namespace {

namespace fs = std::filesystem;
using namespace testing;

class UnitSeveralDatasets : public ::testing::Test {
 protected:
  fs::path write(const std::string& name, std::uint32_t images, const char* format = "recordio") {
    write_dataset(container(format), png_codec, root_ / name, make_examples({4, 4, 3}, images));
    return root_ / name;
  }
  static std::vector<std::int32_t> labels(const std::vector<fs::path>& inputs) {
    const auto stream = source("dataset").open(inputs, "train");
    std::vector<std::int32_t> all;
    for (Sample sample; stream->next(sample);) all.push_back(sample.label);
    return all;
  }

  TempDirectory root_;
};

TEST_F(UnitSeveralDatasets, the_samples_follow_each_other) {
  const fs::path one = write("one", 2), two = write("a, {b}", 3);
  EXPECT_EQ(labels({one, two / "data.rec"}), (std::vector<std::int32_t>{0, 1, 0, 1, 2}));
  EXPECT_EQ(labels({two, one}), (std::vector<std::int32_t>{0, 1, 2, 0, 1}));
  const std::vector<fs::path> inputs{one, two};
  EXPECT_EQ(source("dataset").files(inputs, "train").size(), 2U);
  EXPECT_EQ(source("dataset").splits(inputs), std::vector<std::string>{"train"});
  EXPECT_EQ(source("dataset").inputs(inputs, "train").front().name, R"({one,a\, \{b\}})");
}

TEST_F(UnitSeveralDatasets, others_than_files_of_one_format_are_refused) {
  const fs::path one = write("one", 2);
  expect_error(
      [&] {
        labels({write("lmdb", 2, "lmdb"), one});
      },
      {"no file or directory of a format of several"});
  expect_error([&] { labels({one, root_ / "none"}); }, {"none: No such file"});
  expect_error(
      [&] {
        labels({one, one.string() + "?label=fine"});
      },
      {"expected ''", "found '?label=fine'"});
}

}  // namespace
}  // namespace feedrate::converters
