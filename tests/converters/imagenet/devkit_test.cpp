#include "converters/imagenet/devkit.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "converters/imagenet/wnids.h"
#include "formats/base/text.h"
#include "formats/base/wnid.h"
#include "formats/io/file.h"
#include "tests/converters/make_devkit.h"
#include "tests/support/data.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using namespace feedrate::testing;
namespace fs = std::filesystem;

TEST(UnitDevkit, the_known_classes_are_a_thousand_sorted_wnids) {
  const auto& wnids = imagenet_wnids();
  ASSERT_EQ(wnids.size(), 1000U);
  EXPECT_TRUE(std::ranges::is_sorted(wnids));
  EXPECT_TRUE(std::ranges::all_of(wnids, is_wnid));
  EXPECT_EQ(wnids[65], "n01751748");
  EXPECT_EQ(wnid_index(wnids, "n01440764"), 0);
  EXPECT_EQ(wnid_index(wnids, "n15075141"), 999);
  EXPECT_EQ(wnid_index(wnids, "n00000000"), std::nullopt);
  EXPECT_EQ(wnid_index(wnids, "n99999999"), std::nullopt);
}

TEST(UnitDevkit, tar_directory_and_files_say_the_same) {
  const TempDirectory directory;
  const auto unpacked = directory / "unpacked", data = unpacked / "data";
  fs::create_directories(data);
  const auto meta = write(data / "meta.mat", make_meta());
  const auto truth = write(data / "ILSVRC2012_validation_ground_truth.txt", make_ground_truth());
  const std::vector<std::vector<fs::path>> packagings = {
      {write(directory / "devkit.tar.gz", make_devkit())},
      {unpacked},
      {data},
      {meta, truth},
      {truth, meta}};
  for (const auto& inputs : packagings) {
    SCOPED_TRACE(inputs.front());
    const Devkit devkit = read_devkit(inputs);
    EXPECT_EQ(devkit.wnids, imagenet_wnids());
    EXPECT_EQ(devkit.words[7], "words of n01514668");
    ASSERT_EQ(devkit.val_labels.size(), 50000U);
    for (std::size_t i : {0, 1, 999, 49999}) EXPECT_EQ(devkit.val_labels[i], made_val_label(i));
  }
  EXPECT_EQ(read_devkit({directory / "devkit.tar.gz"}).files.size(), 1U);
  EXPECT_EQ(read_devkit({unpacked}).files, (std::vector<fs::path>{meta, truth}));
  EXPECT_TRUE(read_devkit({meta}).val_labels.empty());
}

TEST(InteropDevkit, the_genuine_one_gives_the_labels_that_are_known) {
  const auto file = data_file("imagenet/ILSVRC2012_devkit_t12.tar.gz");
  if (!file) GTEST_SKIP() << "the devkit is not on this machine";
  const Devkit devkit = read_devkit({*file});
  EXPECT_EQ(devkit.wnids, imagenet_wnids());
  EXPECT_EQ(devkit.words[0], "tench, Tinca tinca");
  EXPECT_EQ(devkit.val_labels[0], 65);  // devkit id 490
  std::vector<int> counts(1000);
  for (const std::int32_t label : devkit.val_labels) ++counts[static_cast<std::size_t>(label)];
  EXPECT_TRUE(std::ranges::all_of(counts, [](int count) { return count == 50; }));
}

TEST(InteropDevkit, its_words_are_those_of_caffes_list) {
  const auto file = data_file("imagenet/ILSVRC2012_devkit_t12.tar.gz");
  const auto list = data_file("imagenet/synset_words.txt");
  if (!file || !list) GTEST_SKIP() << "the devkit or Caffe's list is not on this machine";
  const Devkit devkit = read_devkit({*file});
  const std::string text = read_text(*list);
  std::string_view rest = text;
  for (std::size_t i = 0; i < devkit.words.size(); ++i) {
    EXPECT_EQ(take_line(rest), devkit.wnids[i] + " " + devkit.words[i]);
  }
}

TEST(HostileDevkit, a_ground_truth_of_another_length_is_an_error) {
  const TempDirectory directory;
  const std::string truth = make_ground_truth();
  const auto given = [&](const std::string& text) {
    return [&, text] {
      read_devkit({write(directory / "meta.mat", make_meta()),
                   write(directory / "ILSVRC2012_validation_ground_truth.txt", text)});
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

TEST(HostileDevkit, a_meta_mat_that_is_not_of_ilsvrc2012_is_an_error) {
  const TempDirectory directory;
  const auto read = [&](const MatArray& synsets) {
    return [&, synsets] {
      read_devkit({write(directory / "meta.mat", std::string(as_text(write_mat_file({synsets}))))});
    };
  };
  MatArray synsets = make_synsets();
  synsets.name = "classes";
  expect_error(read(synsets), {"meta.mat", "no structs called synsets"});
  synsets = make_synsets();
  synsets.fields[4] = "grandchildren";
  expect_error(read(synsets), {"no field num_children"});
  synsets = make_synsets();
  synsets.elements[0].numbers = {2};
  expect_error(read(synsets), {"synset 1", "ILSVRC2012_ID 2 comes twice"});
  synsets.elements[0].numbers = {1e18};
  expect_error(read(synsets), {"synset 0", "1 to 1000"});
  synsets.elements[0].numbers = {1, 2};
  synsets.elements[0].dimensions = {1, 2};
  expect_error(read(synsets), {"synset 0: ILSVRC2012_ID is not a number"});
  synsets = make_synsets();
  synsets.elements[1].text = "fox000000";
  expect_error(read(synsets), {"synset 0", "like n01440764", "fox000000"});
  synsets.elements[1].text = synsets.elements[synsets.fields.size() + 1].text;
  expect_error(read(synsets), {"comes twice"});
  synsets = make_synsets();
  synsets.elements[4].numbers = {3};
  expect_error(read(synsets), {"expected 1000 synsets without children, found 999"});
}

TEST(HostileDevkit, a_missing_meta_mat_says_what_to_give) {
  const TempDirectory directory;
  expect_error(
      [&] {
        read_devkit({write(directory / "x.tar", tar({{"readme.txt", "x"}}))});
      },
      {"x.tar", "holds no meta.mat", "ILSVRC2012_devkit_t12.tar.gz"});
  expect_error([&] { read_devkit({directory.path()}); }, {"holds no meta.mat"});
  const std::string whole = make_devkit();
  expect_error([&] { read_devkit({write(directory / "d.tar.gz", whole.substr(0, 9000))}); },
               {"d.tar.gz"});
}

}  // namespace
}  // namespace feedrate::converters
