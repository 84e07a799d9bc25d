// Labels are read whatever the images are, and those that cannot be are left out where they may be.

#include "loader/labels.h"

#include <gtest/gtest.h>

#include "formats/base/error.h"
#include "formats/container.h"
#include "formats/io/file.h"
#include "loader/order/picks.h"
#include "tests/support/expect_error.h"
#include "tests/support/make_mds.h"
#include "tests/support/memory_dataset.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::loader {
namespace {

namespace fs = std::filesystem;
using namespace testing;

constexpr std::uint32_t samples = 20;

// Overwrites the signature of one image where it is stored.
void spoil(const Dataset& dataset, std::uint64_t index) {
  const SamplePlace place = dataset.place(index);
  std::string content = read_text(place.file);
  const std::size_t image = content.find("\x89PNG", place.offset);
  ASSERT_NE(image, std::string::npos) << place.file;
  content.replace(image, 4, "junk");
  write_text(place.file, content);
}

TEST(UnitLabels, an_image_of_no_codec_has_its_label_in_every_format) {
  for (const Container* format : containers()) {
    const TempDirectory root;
    write_dataset(*format, png_codec, root / "set", make_examples({8, 8, 3}, samples, true));
    const auto whole = labels_of(*open_dataset(root / "set"));
    spoil(*open_dataset(root / "set"), 3);
    const auto dataset = open_dataset(root / "set");
    Scratch scratch;
    EXPECT_THROW((void)dataset->read(3, scratch), Error) << format->name();
    if (format->name() == "tfrecord") continue;  // its CRC covers label and image
    const Labels found = labels_of(*dataset);
    EXPECT_EQ(found.of_samples, whole.of_samples) << format->name();
    EXPECT_EQ(found.classes, 10U) << format->name();
    EXPECT_EQ(count_classes(*dataset), 10U) << format->name();
  }
}

TEST(UnitLabels, so_it_has_in_mds) {
  const TempDirectory root;
  make_mds(root / "set", {{{"junk", 4}, {"", 2}}});
  Buffer png;
  png_codec.encode(make_image({4, 4, 3}, 1), png);
  make_mds(root / "set", {{{"junk", 4}, {"", 2}, {std::string(as_text(png)), 1}}});
  EXPECT_EQ(labels_of(*open_dataset(root / "set")).of_samples,
            (std::vector<std::int32_t>{4, 2, 1}));
}

TEST(UnitLabels, a_label_that_cannot_be_read_is_left_out_where_samples_may_be_bad) {
  const TempDirectory root;
  write_dataset(container("tfrecord"), png_codec, root / "set", make_examples({8, 8, 3}, samples));
  spoil(*open_dataset(root / "set"), 3);
  const auto dataset = open_dataset(root / "set");
  expect_error([&] { labels_of(*dataset); }, {"sample 3"});
  expect_error([&] { labels_of(*dataset, BadPolicy::skip, 0); }, {"1 bad sample, more than the 0"});
  const Labels found = labels_of(*dataset, BadPolicy::skip, 1);
  ASSERT_EQ(found.bad.size(), 1U);
  EXPECT_EQ(found.bad.front().index, 3U);
  EXPECT_NE(found.note().find("1 sample has no label that can be read"), std::string::npos);
  EXPECT_NE(found.note().find("sample 3"), std::string::npos) << found.note();
  const auto drawn = weighted(balancing_weights(found.of_samples), 1000);
  const auto grouped = grouped_by_class(found.of_samples, 2, 2);
  EXPECT_EQ(grouped->size(), (samples - 1) / 4 * 4);
  for (std::uint64_t pick = 0; pick < drawn->size(); ++pick)
    ASSERT_NE(drawn->index(1, 0, pick), 3U);
  for (std::uint64_t epoch = 0; epoch < 10; ++epoch) {
    for (std::uint64_t pick = 0; pick < grouped->size(); ++pick) {
      ASSERT_NE(grouped->index(1, epoch, pick), 3U);
    }
  }
}

TEST(UnitLabels, a_label_below_0_is_no_class) {
  const MemoryDataset dataset(10, {4, 4, 1}, [](std::uint64_t index, Sample& sample) {
    if (index == 4) sample.label = -1;
  });
  expect_error([&] { labels_of(dataset); }, {"sample 4: label -1 is no class"});
  EXPECT_EQ(labels_of(dataset, BadPolicy::replace, 9).bad.size(), 1U);
}

}  // namespace
}  // namespace feedrate::loader
