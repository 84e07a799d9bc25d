// Every container with every codec it accepts: what goes in comes out.

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <set>
#include <thread>

#include "formats/verify/verify.h"
#include "tests/support/expect_error.h"
#include "tests/support/format_pairs.h"
#include "tests/support/partial_writes.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::decode_sample;
using testing::Example;
using testing::expect_error;
using testing::files_of;
using testing::format_pairs;
using testing::FormatPair;
using testing::in_reading_order;
using testing::make_examples;
using testing::stored_examples;
using testing::TempDirectory;
using testing::test_name;
using testing::write_dataset;

class ConformanceFormats : public ::testing::TestWithParam<FormatPair> {
 protected:
  std::unique_ptr<Dataset> written(const std::vector<Example>& examples) {
    write_dataset(*GetParam().container, *GetParam().codec, temporary_ / "set", examples);
    return open_dataset(temporary_ / "set");
  }
  // What was written, in the form in which it should be read.
  std::vector<Example> expected(const std::vector<Example>& originals) {
    return in_reading_order(*GetParam().container, stored_examples(*GetParam().codec, originals));
  }
  // Checks that what is read is what was written, in the container's order.
  void expect_round_trip(const std::vector<Example>& originals) {
    const std::unique_ptr<Dataset> dataset = written(originals);
    const std::vector<Example> examples = expected(originals);
    EXPECT_EQ(dataset->info().format, GetParam().container->name());
    EXPECT_EQ(dataset->info().codec, GetParam().codec->name());
    EXPECT_EQ(dataset->info().shape, examples.front().image.shape);
    ASSERT_EQ(dataset->size(), examples.size());
    Scratch scratch;
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const Sample sample = dataset->read(i, scratch);
      EXPECT_EQ(sample.label, examples[i].label) << "sample " << i;
      ASSERT_EQ(sample.shape, examples[i].image.shape) << "sample " << i;
      EXPECT_EQ(decode_sample(sample).pixels, examples[i].image.pixels) << "sample " << i;
    }
  }

  TempDirectory temporary_;
};

TEST_P(ConformanceFormats, grey_digits_come_back) {
  expect_round_trip(make_examples({28, 28, 1}, 37));
}

TEST_P(ConformanceFormats, colour_images_come_back_with_their_channels_in_order) {
  expect_round_trip(make_examples({32, 32, 3}, 23));
}

TEST_P(ConformanceFormats, named_colour_images_come_back) {
  expect_round_trip(make_examples({32, 32, 3}, 23, true));
}

TEST_P(ConformanceFormats, odd_sizes_come_back) {
  expect_round_trip(make_examples({7, 13, 3}, 5));
  temporary_.clear();
  expect_round_trip(make_examples({13, 7, 1}, 5));
}

TEST_P(ConformanceFormats, a_single_pixel_comes_back) {
  expect_round_trip(make_examples({1, 1, 1}, 1));
  temporary_.clear();
  expect_round_trip(make_examples({1, 1, 3}, 1));
}

TEST_P(ConformanceFormats, images_of_different_shapes_share_a_dataset) {
  std::vector<Example> examples = make_examples({5, 9, 3}, 3);
  examples.push_back(make_examples({40, 2, 1}, 1).front());
  examples.push_back(make_examples({200, 300, 3}, 1).front());
  expect_round_trip(examples);
}

TEST_P(ConformanceFormats, large_labels_come_back) {
  std::vector<Example> examples = make_examples({4, 4, 1}, 4);
  examples[1].label = 127;
  examples[2].label = 128;
  // A folder makes a directory for every class up to the largest.
  examples[3].label = GetParam().container->keeps_order() ? 21841 : 300;
  expect_round_trip(examples);
}

TEST_P(ConformanceFormats, more_samples_than_one_transaction_or_buffer_come_back) {
  expect_round_trip(make_examples({28, 28, 1}, 2500));
}

TEST_P(ConformanceFormats, eight_threads_read_in_random_order) {
  const std::vector<Example> originals = make_examples({16, 16, 3}, 200);
  const std::unique_ptr<Dataset> dataset = written(originals);
  const std::vector<Example> examples = expected(originals);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 8; ++seed) {
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      Scratch scratch;
      for (int i = 0; i < 500; ++i) {
        const std::size_t index = random() % examples.size();
        const Sample sample = dataset->read(index, scratch);
        wrong += sample.label != examples[index].label ||
                 decode_sample(sample).pixels != examples[index].image.pixels;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(ConformanceFormats, writing_twice_gives_the_same_samples_byte_for_byte) {
  const std::vector<Example> examples = make_examples({28, 28, 1}, 50);
  write_dataset(*GetParam().container, *GetParam().codec, temporary_ / "a", examples);
  write_dataset(*GetParam().container, *GetParam().codec, temporary_ / "b", examples);
  const auto a = open_dataset(temporary_ / "a");
  const auto b = open_dataset(temporary_ / "b");
  Scratch scratch_a, scratch_b;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const Bytes left = a->read(i, scratch_a).bytes;
    const Bytes right = b->read(i, scratch_b).bytes;
    EXPECT_TRUE(std::equal(left.begin(), left.end(), right.begin(), right.end()));
  }
}

TEST_P(ConformanceFormats, an_index_made_anew_is_the_one_that_the_writer_made) {
  const fs::path set = temporary_ / "set";
  write_dataset(*GetParam().container, *GetParam().codec, set, make_examples({9, 8, 3}, 12, true));
  const auto whole = files_of(set);
  std::set<fs::path> indexes;
  for (const auto& [name, content] : whole) {
    if (!name.ends_with(".idx")) continue;
    indexes.insert(set / name);
    write_text(set / name, "nonsense");
  }
  if (indexes.empty()) {
    expect_error([&] { container_at(set).write_index(set); },
                 {set.string(), GetParam().container->name(), "no index"});
    return;
  }
  const auto written = container_at(set).write_index(set);
  EXPECT_EQ(std::set<fs::path>(written.begin(), written.end()), indexes);
  EXPECT_EQ(files_of(set), whole);
}

INSTANTIATE_TEST_SUITE_P(, ConformanceFormats, ::testing::ValuesIn(format_pairs()), test_name);

TEST(ConformanceDigest, every_format_gives_the_digest_of_what_its_codec_keeps) {
  const std::vector<Example> originals = make_examples({32, 32, 3}, 40);
  TempDirectory temporary;
  for (const FormatPair& pair : format_pairs()) {
    const std::string name = pair.name();
    std::vector<Sha256> expected;
    const auto examples =
        in_reading_order(*pair.container, stored_examples(*pair.codec, originals));
    for (const Example& example : examples) {
      expected.push_back(sample_digest(example.label, example.image));
    }
    const DatasetDigest digest = dataset_digest(expected);
    write_dataset(*pair.container, *pair.codec, temporary / name, originals);
    const Verification verification = verify(*open_dataset(temporary / name), 3);
    EXPECT_TRUE(verification.findings.empty()) << name;
    EXPECT_EQ(verification.samples, examples.size()) << name;
    EXPECT_EQ(verification.digest.digest, digest.digest) << name;
    EXPECT_EQ(verification.digest.set_digest, digest.set_digest) << name;
  }
}

}  // namespace
}  // namespace feedrate::formats
