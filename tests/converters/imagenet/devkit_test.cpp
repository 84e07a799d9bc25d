#include "converters/imagenet/devkit.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "converters/imagenet/imagenet_files.h"
#include "tests/converters/make_devkit.h"
#include "tests/support/data.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
namespace {

using namespace feedrate::testing;
namespace fs = std::filesystem;

TEST(UnitDevkit, tar_directory_and_file_say_the_same) {
  const TempDirectory directory;
  const auto unpacked = directory / "unpacked", data = unpacked / "data";
  fs::create_directories(data);
  write(data / "meta.mat", "nobody reads this");
  const auto truth = write(data / "ILSVRC2012_validation_ground_truth.txt", make_ground_truth());
  const auto packed = write(directory / "devkit.tar.gz", make_devkit());
  for (const fs::path& input : {packed, unpacked, data, truth}) {
    SCOPED_TRACE(input);
    const Devkit devkit = read_devkit(find_imagenet_files(std::vector{input}).devkit);
    ASSERT_EQ(devkit.val_labels.size(), 50000U);
    for (std::size_t i : {0, 1, 999, 49999}) EXPECT_EQ(devkit.val_labels[i], made_val_label(i));
    EXPECT_EQ(devkit.file, input == packed ? packed : truth);
  }
}

TEST(InteropDevkit, the_genuine_one_gives_the_labels_that_are_known) {
  const auto file = data_file("imagenet/ILSVRC2012_devkit_t12.tar.gz");
  if (!file) GTEST_SKIP() << "the devkit is not on this machine";
  const Devkit devkit = read_devkit({*file});
  EXPECT_EQ(devkit.val_labels[0], 65);  // devkit id 490
  std::vector<int> counts(1000);
  for (const std::int32_t label : devkit.val_labels) ++counts[static_cast<std::size_t>(label)];
  EXPECT_TRUE(std::ranges::all_of(counts, [](int count) { return count == 50; }));
}

TEST(HostileDevkit, a_ground_truth_of_another_length_is_an_error) {
  const TempDirectory directory;
  const std::string truth = make_ground_truth();
  const auto given = [&](const std::string& text) {
    return [&, text] {
      read_devkit({write(directory / "ILSVRC2012_validation_ground_truth.txt", text)});
    };
  };
  expect_error(given(truth + "7\n"), {"ground_truth.txt", "expected 50000 lines", "found 50001"});
  expect_error(given(truth.substr(0, truth.find_last_of('\n', truth.size() - 2) + 1)),
               {"expected 50000 lines", "found 49999"});
  expect_error(given(""), {"ground_truth.txt", "is empty"});
  expect_error(given("1\n1001\n" + truth), {"line 2", "1 to 1000", "\"1001\""});
  expect_error(given("1\n2\nthree\n" + truth), {"line 3", "\"three\""});
  expect_error(given("0\n" + truth), {"line 1", "\"0\""});
}

TEST(HostileDevkit, a_missing_ground_truth_says_what_to_give) {
  const TempDirectory directory;
  const auto other = write(directory / "x.tar", tar({{"data/meta.mat", "x"}}));
  expect_error(
      [&] { read_devkit({other}); },
      {"x.tar", "holds no ILSVRC2012_validation_ground_truth.txt", "ILSVRC2012_devkit_t12.tar.gz"});
  const std::string whole = make_devkit();
  expect_error([&] { read_devkit({write(directory / "d.tar.gz", whole.substr(0, 9000))}); },
               {"d.tar.gz"});
}

}  // namespace
}  // namespace feedrate::converters
