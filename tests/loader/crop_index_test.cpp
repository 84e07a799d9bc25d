// The loader with a crop index: the same batches, from fewer MCUs.

#include "formats/crops/crop_index.h"

#include <gtest/gtest.h>

#include "formats/io/file.h"
#include "tests/formats/jpeg_kinds.h"
#include "tests/loader/batches.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using namespace testing;

constexpr std::uint32_t images = 20;

class UnitCropIndexLoader : public ::testing::Test {
 protected:
  void SetUp() override {
    write_dataset(container("recordio"), jpeg_codec, temporary_ / "set",
                  make_examples({260, 240, 3}, images));
    dataset_ = open_dataset(temporary_ / "set");
    file_ = make_crop_index(*dataset_, crop_index_file(temporary_ / "set"), 2).file;
  }

  static LoaderOptions options(unsigned threads, bool with_index) {
    return {.threads = threads, .batch = 7, .epochs = 2, .engine = {.crop_index = with_index}};
  }

  LoaderStats stats(const Recipe& recipe, bool with_index) const {
    Loader loader(*dataset_, recipe, options(2, with_index));
    while (loader.next() != nullptr) continue;
    return loader.stats();
  }

  TempDirectory temporary_;
  std::unique_ptr<Dataset> dataset_;
  std::filesystem::path file_;
};

TEST_F(UnitCropIndexLoader, batches_are_the_same_with_and_without_it_at_any_thread_count) {
  for (const char* name : {"imagenet-train", "imagenet-eval", "none"}) {
    const Recipe& kind = recipe(name);
    const std::vector<std::string> reference = digests(*dataset_, kind, options(0, false));
    EXPECT_EQ(reference.size(), 6U);
    for (const unsigned threads : {0U, 1U, 2U, 4U, 8U}) {
      EXPECT_EQ(digests(*dataset_, kind, options(threads, true)), reference)
          << name << ", " << threads;
    }
  }
}

TEST_F(UnitCropIndexLoader, batches_of_images_decoded_scaled_are_the_same_with_it) {
  const Recipe& kind = recipe("imagenet-eval:size=112:resize=120");
  const auto scaled = [](unsigned threads, bool with_index) {
    LoaderOptions options = UnitCropIndexLoader::options(threads, with_index);
    options.decoded = DecodedSize::scaled;
    return options;
  };
  const std::vector<std::string> reference = digests(*dataset_, kind, scaled(0, false));
  EXPECT_NE(digests(*dataset_, kind, options(0, false)), reference);
  for (const unsigned threads : {0U, 2U}) {
    EXPECT_EQ(digests(*dataset_, kind, scaled(threads, true)), reference) << threads;
  }
  Loader loader(*dataset_, kind, scaled(2, true));
  while (loader.next() != nullptr) continue;
  const LoaderStats stats = loader.stats();
  EXPECT_EQ(stats.shrunk, 2 * images);
  EXPECT_EQ(stats.crops.indexed, 2 * images);
  EXPECT_LT(stats.crops.mcus_read, stats.crops.mcus);
}

// Photographs as cameras write them: the codes of a row of MCUs exceed the decoder's window.
void write_camera_originals(const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  WriterOptions written;
  written.codec = &jpeg_codec;
  const std::unique_ptr<Writer> writer = container("recordio").create(directory, written);
  for (const auto& [across, down] : {std::pair(1, 1), {2, 1}, {2, 2}}) {
    for (const int quality : {96, 100}) {
      const JpegKind kind{.quality = quality, .across = across, .down = down};
      const Shape shape{1200, 1920, 3};
      const Buffer jpeg = noisy_jpeg(kind, shape, static_cast<unsigned>(quality) - 40);
      writer->add({.bytes = jpeg, .codec = &jpeg_codec, .shape = shape});
    }
  }
  writer->finish(nullptr);
}

TEST(UnitCropIndexOfCameras, an_epoch_of_camera_originals_is_the_same_with_it) {
  const TempDirectory temporary;
  write_camera_originals(temporary / "set");
  const auto dataset = open_dataset(temporary / "set");
  EXPECT_EQ(make_crop_index(*dataset, crop_index_file(temporary / "set"), 2).indexed, 6U);
  const auto options = [](unsigned threads, bool with_index) {
    return LoaderOptions{
        .threads = threads, .batch = 3, .epochs = 8, .engine = {.crop_index = with_index}};
  };
  const Recipe& kind = recipe("imagenet-train");
  const std::vector<std::string> reference = digests(*dataset, kind, options(2, false));
  for (const unsigned threads : {0U, 3U}) {
    Loader loader(*dataset, kind, options(threads, true));
    EXPECT_EQ(digests(loader), reference) << threads;
    EXPECT_EQ(loader.stats().crops.indexed, 8U * 6U);
    EXPECT_EQ(loader.stats().crops.stale, 0U);
  }
}

TEST_F(UnitCropIndexLoader, its_use_is_counted) {
  const Recipe& kind = recipe("imagenet-train");
  const CropStats with = stats(kind, true).crops, without = stats(kind, false).crops;
  EXPECT_EQ(with.parts, 2 * images);
  EXPECT_EQ(with.indexed, 2 * images);
  EXPECT_EQ(with.stale, 0U);
  EXPECT_EQ(without.parts, 2 * images);
  EXPECT_EQ(without.indexed, 0U);
  EXPECT_EQ(with.mcus, without.mcus);
  EXPECT_EQ(with.bytes, without.bytes);
  EXPECT_LT(with.mcus_read, without.mcus_read * 9 / 10);
  EXPECT_LT(with.bytes_read, without.bytes_read * 9 / 10);
  EXPECT_LT(without.bytes_read, without.bytes);
}

TEST_F(UnitCropIndexLoader, a_damaged_entry_is_counted_and_changes_nothing) {
  const Recipe& kind = recipe("imagenet-train");
  const auto reference = digests(*dataset_, kind, options(1, false));
  std::string content = read_text(file_);
  content[60] = static_cast<char>(content[60] ^ 1);  // in the first entry
  write_text(file_, content);
  EXPECT_EQ(digests(*dataset_, kind, options(2, true)), reference);
  const CropStats found = stats(kind, true).crops;
  EXPECT_EQ(found.stale, 2U);
  EXPECT_EQ(found.indexed, 2 * images - 2);
  EXPECT_EQ(found.parts, 2 * images);
}

TEST_F(UnitCropIndexLoader, an_index_that_is_cut_short_is_reported_and_not_used) {
  const Recipe& kind = recipe("imagenet-eval");
  const auto reference = digests(*dataset_, kind, options(1, false));
  write_text(file_, read_text(file_).substr(0, 2000));
  Loader loader(*dataset_, kind, options(2, true));
  EXPECT_NE(loader.crop_index_problem().find("is cut short"), std::string::npos)
      << loader.crop_index_problem();
  EXPECT_EQ(digests(loader), reference);
  EXPECT_EQ(Loader(*dataset_, kind, options(1, false)).crop_index_problem(), "");
}

TEST_F(UnitCropIndexLoader, a_substitute_is_decoded_with_its_own_entry) {
  // Damages the header of an image in the middle.
  const std::filesystem::path records = temporary_ / "set/data.rec";
  const SamplePlace place = dataset_->place(9);
  std::string content = read_text(records);
  const std::size_t header = content.find("\xff\xc0", place.offset);
  ASSERT_NE(header, std::string::npos);
  content[header + 4] = 12;  // bits of a sample
  dataset_.reset();
  write_text(records, content);
  dataset_ = open_dataset(temporary_ / "set");
  LoaderOptions settings = options(1, true);
  settings.bad.policy = BadPolicy::replace;
  Loader loader(*dataset_, recipe("imagenet-train"), settings);
  while (loader.next() != nullptr) continue;
  const LoaderStats found = loader.stats();
  EXPECT_EQ(found.bad_seats, 2U);
  EXPECT_EQ(found.crops.indexed, 2 * images);
  EXPECT_EQ(found.crops.stale, 0U);
}

}  // namespace
}  // namespace feedrate::loader
