#include "formats/containers/webdataset/tar_set.h"

#include <gtest/gtest.h>

#include "formats/io/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

using testing::expect_error;
using testing::TempDirectory;

class UnitTarSet : public ::testing::Test {
 protected:
  void touch(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) write_text(temporary_ / name, "");
  }
  std::vector<std::string> found(std::string_view name = "") {
    std::vector<std::string> names;
    for (const auto& file : find_tars(temporary_ / name)) names.push_back(file.filename().string());
    return names;
  }
  using Names = std::vector<std::string>;

  TempDirectory temporary_;
};

TEST_F(UnitTarSet, the_tars_of_a_directory_come_in_the_order_of_their_numbers) {
  touch({"train-000001.tar", "train-000000.tar", "train-000000.idx", "feedrate.json"});
  EXPECT_EQ(found(), (Names{"train-000000.tar", "train-000001.tar"}));
  temporary_.clear();
  touch({"10.tar", "9.tar", "8.tar.gz"});
  EXPECT_EQ(found(), (Names{"8.tar.gz", "9.tar", "10.tar"}));
  temporary_.clear();
  touch({"set.tgz"});
  EXPECT_EQ(found(), (Names{"set.tgz"}));
  EXPECT_EQ(found("set.tgz"), (Names{"set.tgz"}));
}

TEST_F(UnitTarSet, several_datasets_in_a_directory_are_named) {
  touch({"train-000000.tar", "train-000001.tar", "val-000000.tar", "extra.tar.gz"});
  expect_error([&] { found(); }, {"several datasets",
                                  "extra.tar.gz, train-{000000..000001}.tar, "
                                  "val-000000.tar"});
  EXPECT_EQ(found("train-{000000..000001}.tar"), (Names{"train-000000.tar", "train-000001.tar"}));
}

TEST_F(UnitTarSet, a_number_missing_or_there_twice_is_an_error) {
  touch({"a-000.tar", "a-001.tar", "a-003.tar"});
  expect_error([&] { found(); }, {"misses a shard", "a-001.tar", "a-003.tar"});
  touch({"a-002.tar", "a-2.tar"});
  expect_error([&] { found(); }, {"one shard twice", "a-002.tar and a-2.tar"});
}

TEST_F(UnitTarSet, dates_and_directories_are_no_numbers_of_shards) {
  std::filesystem::create_directory(temporary_ / "b.tar");
  touch({"20240229123456.tar"});
  EXPECT_EQ(found(), (Names{"20240229123456.tar"}));
}

TEST_F(UnitTarSet, a_directory_without_tars_says_so) {
  EXPECT_FALSE(holds_tars(temporary_.path()));
  EXPECT_FALSE(holds_tars(temporary_ / "none"));
  expect_error([&] { found(); }, {"holds no tar"});
}

}  // namespace
}  // namespace feedrate::formats
