#include "formats/crops/crop_index.h"

#include <gtest/gtest.h>

#include <random>

#include "formats/codecs/jpeg/jpeg_index.h"
#include "formats/crops/index_layout.h"
#include "formats/io/file.h"
#include "formats/verify/verify.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::make_examples;
using testing::TempDirectory;
using testing::write_dataset;

constexpr Shape shape{120, 150, 3};
constexpr std::uint32_t images = 6;

class CropIndexFile : public ::testing::Test {
 protected:
  void SetUp() override { write(make_examples(shape, images)); }

  void write(const std::vector<testing::Example>& examples, const Codec& codec = jpeg_codec) {
    fs::remove(set_ / "data.rec");
    fs::remove(set_ / "data.idx");
    write_dataset(container("recordio"), codec, set_, examples);
    dataset_ = open_dataset(set_);
  }
  MadeCropIndex make(unsigned threads = 2) const {
    return make_crop_index(*dataset_, crop_index_file(set_), threads);
  }
  std::string content() const { return read_text(crop_index_file(set_)); }
  void replace(const std::string& content) const { write_text(crop_index_file(set_), content); }

  // Decodes the same part of every image with and without the index.
  JpegCounts expect_same_pixels(const CropIndex& index) const {
    JpegCounts counts;
    Scratch scratch;
    const Rect part{40, 60, 30, 50};
    Buffer with, without;
    for (std::uint64_t i = 0; i < dataset_->size(); ++i) {
      const Sample sample = dataset_->read(i, scratch);
      const PixelRows found = decode_part(sample, part, with, {index.entry(i), &counts});
      const PixelRows expected = decode_part(sample, part, without);
      for (std::size_t y = 0; y < part.height; ++y) {
        const Bytes row(found.first + y * found.stride, std::size_t{3} * part.width);
        const Bytes wanted(expected.first + y * expected.stride, row.size());
        EXPECT_EQ(as_text(row), as_text(wanted)) << i << ", row " << y;
      }
    }
    return counts;
  }
  // What verify says of the index.
  std::vector<std::string> findings() const {
    std::vector<std::string> problems;
    for (const Finding& finding : verify(*dataset_, 2).findings)
      problems.push_back(finding.problem);
    return problems;
  }

  TempDirectory temporary_;
  fs::path set_ = temporary_ / "set";
  std::unique_ptr<Dataset> dataset_;
};

using UnitCropIndex = CropIndexFile;
using HostileCropIndex = CropIndexFile;

TEST_F(UnitCropIndex, an_index_is_small_found_by_itself_and_changes_no_pixel) {
  EXPECT_FALSE(find_crop_index(*dataset_).index);
  const MadeCropIndex made = make();
  EXPECT_EQ(made.file, set_ / "feedrate.crops");
  EXPECT_EQ(made.samples, images);
  EXPECT_EQ(made.indexed, images);
  EXPECT_EQ(made.bytes, fs::file_size(made.file));
  EXPECT_LT(made.bytes, made.sample_bytes * 3 / 100);
  const FoundCropIndex found = find_crop_index(*dataset_);
  ASSERT_TRUE(found.index) << found.problem;
  const JpegCounts counts = expect_same_pixels(*found.index);
  EXPECT_EQ(counts.indexed, images);
  EXPECT_EQ(counts.stale, 0U);
  EXPECT_LT(counts.mcus_read * 2, counts.mcus);
  EXPECT_TRUE(findings().empty());
}

TEST_F(UnitCropIndex, any_number_of_threads_makes_the_same_file) {
  make(1);
  const std::string one = content();
  make(5);
  EXPECT_EQ(content(), one);
}

TEST_F(UnitCropIndex, a_single_file_has_an_index_of_its_own_and_shards_have_one) {
  EXPECT_EQ(crop_index_file(set_ / "data.rec"), set_ / "data.rec.crops");
  write_text(set_ / "train-00000-of-00002", "");
  EXPECT_EQ(crop_index_file(set_ / "train-00000-of-00002"), set_ / "feedrate.crops");
  EXPECT_EQ(crop_index_file(set_.string() + "?label=fine"), set_ / "feedrate.crops");
  make();
  EXPECT_TRUE(find_crop_index(*open_dataset(set_ / "data.rec")).index) << "the directory's";
}

TEST_F(UnitCropIndex, images_that_are_no_large_jpegs_have_nothing_to_index) {
  write(make_examples(shape, images), png_codec);
  EXPECT_THROW(make(), NothingToIndex);
  write(make_examples({16, 16, 3}, images));
  EXPECT_THROW(make(), NothingToIndex);
  for (const auto& entry : fs::directory_iterator(set_)) {
    EXPECT_EQ(entry.path().string().find("crops"), std::string::npos) << entry.path();
  }
}

TEST_F(UnitCropIndex, an_index_of_other_images_is_not_used_and_found_by_verify) {
  make();
  std::vector<testing::Example> examples = make_examples(shape, images + 1);
  examples.erase(examples.begin());
  write(examples);
  const FoundCropIndex found = find_crop_index(*dataset_);
  ASSERT_TRUE(found.index);
  EXPECT_EQ(expect_same_pixels(*found.index).stale, images);
  const std::vector<std::string> problems = findings();
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems.front().find("does not fit 6 samples; the first is 0 (00000.jpg): it was made "
                                  "of other bytes; 'feedrate index"),
            std::string::npos)
      << problems.front();
}

TEST_F(HostileCropIndex, an_index_that_cannot_be_used_says_why_and_how_to_make_it_again) {
  make();
  const std::string whole = content();
  const auto expect_problem = [&](const std::string& changed, std::string_view part) {
    replace(changed);
    const FoundCropIndex found = find_crop_index(*dataset_);
    EXPECT_FALSE(found.index);
    EXPECT_NE(found.problem.find(part), std::string::npos) << found.problem;
    EXPECT_NE(found.problem.find(" --crops' makes it again"), std::string::npos) << found.problem;
    ASSERT_EQ(findings().size(), 1U);
  };
  expect_problem("", "is no crop index");
  expect_problem("FRCROPS?" + whole.substr(8), "is no crop index");
  std::string newer = whole;
  newer[8] = 2;
  expect_problem(newer, "of version 2; this Feedrate reads version 1");
  for (std::size_t size = 16; size < whole.size(); size += 97) {
    replace(whole.substr(0, size));
    const FoundCropIndex found = find_crop_index(*dataset_);
    ASSERT_FALSE(found.index) << size;
    ASSERT_NE(found.problem.find("cut short"), std::string::npos) << found.problem;
  }
  replace(whole);
  write(make_examples(shape, images + 1));
  EXPECT_NE(
      find_crop_index(*dataset_).problem.find("of other data: of 6 samples, while there are 7"),
      std::string::npos);
}

TEST_F(HostileCropIndex, no_flipped_bit_changes_a_pixel_and_verify_finds_each) {
  make();
  const std::string whole = content();
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    std::string changed = whole;
    // Half of them in the offsets and the foot, which take 80 bytes.
    const std::size_t at = i % 2 == 0 ? whole.size() - 1 - random() % 80 : random() % whole.size();
    changed[at] = static_cast<char>(changed[at] ^ (1 << random() % 8));
    replace(changed);
    const FoundCropIndex found = find_crop_index(*dataset_);
    if (found.index) {
      const JpegCounts counts = expect_same_pixels(*found.index);
      EXPECT_LE(counts.indexed + counts.stale, images);
      EXPECT_GE(counts.indexed, images - 2) << "an offset ends one entry and begins another";
    }
    EXPECT_GE(findings().size(), 1U) << "byte " << at;
  }
}

}  // namespace
}  // namespace feedrate::formats
