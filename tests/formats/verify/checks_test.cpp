#include "formats/verify/checks.h"

#include <gtest/gtest.h>

#include "formats/verify/published_counts.h"

namespace feedrate::formats {
namespace {

/// A dataset that has only its info: the checks of counts read no sample.
class Stated final : public Dataset {
 public:
  explicit Stated(DatasetInfo info) { info_ = std::move(info); }
  Sample read(std::uint64_t, Scratch&) const override { throw Error("not to be read"); }
};

DatasetInfo info_of(std::uint64_t size, const Sidecar& sidecar) {
  DatasetInfo info;
  info.path = "set";
  info.size = size;
  info.classes = sidecar.classes;
  info.sidecar = sidecar;
  return info;
}

Verification checked(const std::vector<std::uint64_t>& counts, const Sidecar& sidecar) {
  Verification result;
  result.class_counts = counts;
  for (const std::uint64_t count : counts) result.samples += count;
  check_published_counts(Stated(info_of(result.samples, sidecar)), result);
  return result;
}

Sidecar sidecar_of(const std::string& source, const std::string& split,
                   std::uint64_t archive_bytes) {
  Sidecar sidecar;
  sidecar.source = source;
  sidecar.split = split;
  sidecar.inputs.push_back({"archive", archive_bytes, ""});
  return sidecar;
}

TEST(UnitPublishedCounts, classes_add_up_to_the_samples_of_every_row) {
  for (const PublishedCounts& row : published_counts()) {
    EXPECT_LE(row.classes * row.fewest, row.samples) << row.set;
    EXPECT_GE(row.classes * row.most, row.samples) << row.set;
  }
}

TEST(UnitPublishedCounts, the_published_numbers_raise_nothing) {
  const Verification cifar =
      checked(std::vector<std::uint64_t>(10, 5000), sidecar_of("cifar10", "train", 170'498'071));
  EXPECT_TRUE(cifar.findings.empty() && cifar.notes.empty());
  std::vector<std::uint64_t> letters(27, 4800);
  letters[0] = 0;
  const Verification emnist = checked(letters, sidecar_of("mnist", "train", 1));
  EXPECT_TRUE(emnist.findings.empty() && emnist.notes.empty());
}

TEST(UnitPublishedCounts, the_published_archive_with_other_numbers_is_a_finding) {
  std::vector<std::uint64_t> counts(10, 5000);
  counts[3] = 4999;
  Verification result = checked(counts, sidecar_of("cifar10", "train", 170'498'071));
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].problem, "holds 49999 samples, CIFAR-10 train has 50000");
  counts[4] = 5001;
  result = checked(counts, sidecar_of("cifar10", "train", 170'498'071));
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].problem,
            "holds 4999 samples of class 3, CIFAR-10 train has 5000 of each");
  result = checked(std::vector<std::uint64_t>(9, 1), sidecar_of("imagenet", "val", 6'744'924'160));
  ASSERT_EQ(result.findings.size(), 1U);
  result = checked({9999, 1}, sidecar_of("mnist", "test", 1'648'877));
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].problem, "holds samples of 2 classes, MNIST test has 10");
}

TEST(UnitPublishedCounts, other_archives_get_a_note_and_a_part_that_was_asked_for_nothing) {
  Verification result = checked({100, 140}, sidecar_of("imagenet", "train", 12345));
  EXPECT_TRUE(result.findings.empty());
  ASSERT_EQ(result.notes.size(), 1U);
  EXPECT_EQ(result.notes[0].problem,
            "holds 240 samples, ILSVRC2012 train has 1281167: a part, or another set");
  for (const char* option : {"--limit 240", "--part 1/4"}) {
    Sidecar limited = sidecar_of("imagenet", "train", 147'897'477'120);
    limited.options = {option};
    result = checked({100, 140}, limited);
    EXPECT_TRUE(result.findings.empty() && result.notes.empty());
  }
  result = checked({1, 2}, sidecar_of("folder", "train", 0));
  EXPECT_TRUE(result.findings.empty() && result.notes.empty());
}

std::string problem_with(std::int32_t label, const std::vector<std::string>& class_names = {},
                         std::string_view name = "val/ILSVRC2012_val_00000001.JPEG") {
  DatasetInfo info;
  info.class_names.names = class_names;
  Sample sample;
  sample.label = label;
  sample.name = name;
  return label_space_problem(info, sample);
}

TEST(UnitLabelSpace, the_first_validation_image_tells_which_numbers_are_labels) {
  EXPECT_EQ(problem_with(65), "");
  EXPECT_EQ(problem_with(7, {}, "ILSVRC2012_val_00000002.JPEG"), "");
  const auto expect = [](std::int32_t label, std::string_view part) {
    EXPECT_NE(problem_with(label).find(part), std::string::npos) << problem_with(label);
  };
  expect(66, "label 66, but is of class 65 (n01751748); that is its number in TensorFlow");
  expect(490, "that is the devkit's ILSVRC2012_ID, from 1");
  expect(489, "that is the devkit's ILSVRC2012_ID - 1");
  expect(64, "was 1 subtracted");
  expect(3, "has the label 3, but is of class 65 (n01751748)");
}

TEST(UnitLabelSpace, a_dataset_s_own_class_names_come_first) {
  const std::vector<std::string> wnids = {"n01440764", "n01751748", "n02085620"};
  EXPECT_EQ(problem_with(1, wnids), "");
  EXPECT_NE(problem_with(65, wnids).find("is of class 1"), std::string::npos);
  EXPECT_EQ(problem_with(1, {"cat", "snake"}), "");
  EXPECT_NE(problem_with(1, {"n01440764", "n02085620"}), "");
}

TEST(UnitClassCheck, classes_without_samples_are_noted) {
  const auto notes = [](const std::vector<std::uint64_t>& counts, std::uint32_t classes) {
    Verification result;
    result.samples = 10;
    result.class_counts = counts;
    Sidecar sidecar;
    sidecar.classes = classes;
    check_classes(Stated(info_of(10, sidecar)), result);
    EXPECT_TRUE(result.findings.empty());
    return result.notes.empty() ? std::string() : result.notes.at(0).problem;
  };
  EXPECT_EQ(notes({5, 5}, 2), "");
  EXPECT_EQ(notes({5, 5}, 0), "");
  EXPECT_EQ(notes({5, 0, 5}, 4), "2 of 4 classes have no samples: 1, 3");
  EXPECT_EQ(notes({10}, 13), "12 of 13 classes have no samples: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …");
  EXPECT_NE(notes({0, 5, 5}, 0).find("labels count from 1"), std::string::npos);
}

}  // namespace
}  // namespace feedrate::formats
