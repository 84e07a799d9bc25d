#include <gtest/gtest.h>
#include <lmdb.h>

#include <random>

#include "formats/io/file.h"
#include "formats/verify/verify.h"
#include "tests/support/expect_error.h"
#include "tests/support/killed_process.h"
#include "tests/support/lmdb_environment.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::Environment;
using testing::Example;
using testing::expect_error;
using testing::kill_myself;
using testing::last_state_of_killed;
using testing::make_examples;
using testing::make_image;
using testing::Tell;
using testing::TempDirectory;
using testing::write_dataset;

TEST(InteropLmdb, liblmdb_finds_caffe_s_keys_and_values_and_nothing_else_lies_there) {
  TempDirectory temporary;
  const auto examples = make_examples({3, 2, 1}, 3);
  write_dataset(container("lmdb"), raw_codec, temporary / "set", examples);
  EXPECT_EQ(std::distance(fs::directory_iterator(temporary / "set"), {}), 1) << "only data.mdb";
  const auto entries = Environment(temporary / "set").entries();
  ASSERT_EQ(entries.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(entries[i].first, join("0000000", i));
    EXPECT_EQ(hex(entries[i].second),
              "0801"
              "1003"
              "1802"
              "2206" +
                  hex(examples[i].image.pixels) + "280" + std::to_string(i) + "3800");
  }
}

TEST(InteropLmdb, named_samples_get_convert_imageset_s_keys_and_its_blue_first_planes) {
  TempDirectory temporary;
  std::vector<Example> examples(2);
  examples[0].image = {
      {1, 2, 3},
      {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}, std::byte{6}}};
  examples[1].image = examples[0].image;
  examples[0].name = "cat/1.png";
  write_dataset(container("lmdb"), raw_codec, temporary / "set", examples);
  const auto entries = Environment(temporary / "set").entries();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].first, "00000000_cat/1.png");
  EXPECT_EQ(hex(entries[0].second),
            "080310011802"
            "2206"
            "030602050104"
            "28003800");
  EXPECT_EQ(entries[1].first, "00000001");
  EXPECT_EQ(hex(entries[1].second),
            "080310011802"
            "2206"
            "010402050306"
            "28003800");
  Scratch scratch;
  EXPECT_EQ(open_dataset(temporary / "set")->read(0, scratch).name, "cat/1.png");
}

// The layout depends on sizes alone, and Caffe's own loop was measured to give these numbers.
TEST(InteropLmdb, sixty_thousand_digits_fill_the_pages_that_caffe_s_tool_fills) {
  TempDirectory temporary;
  std::vector<Example> examples(60000);
  for (Example& example : examples) example.image = {{28, 28, 1}, Buffer(784)};
  write_dataset(container("lmdb"), raw_codec, temporary / "set", examples);
  const Environment environment(temporary / "set");
  const MDB_stat stat = environment.stat();
  EXPECT_EQ(stat.ms_entries, 60000U);
  EXPECT_EQ(environment.map_size(), 67108864U);
  EXPECT_EQ(stat.ms_overflow_pages, 0U);
  if (stat.ms_psize != 4096) GTEST_SKIP() << "the other numbers are for pages of 4096 bytes";
  EXPECT_EQ(stat.ms_depth, 3U);
  EXPECT_EQ(stat.ms_leaf_pages, 15000U);
  EXPECT_EQ(fs::file_size(temporary / "set/data.mdb"), 61763584U);
}

TEST(HostileLmdb, a_name_too_long_for_a_key_is_refused) {
  TempDirectory temporary;
  auto examples = make_examples({2, 2, 1}, 1);
  examples[0].name = std::string(503, 'n');
  expect_error([&] { write_dataset(container("lmdb"), raw_codec, temporary / "set", examples); },
               {"sample 0", "more than 511 bytes"});
}

void add(Writer& writer, const Example& example, const Codec& codec = raw_codec) {
  Buffer encoded;
  codec.encode(example.image, encoded);
  Sample sample;
  sample.bytes = encoded;
  sample.codec = &codec;
  sample.shape = example.image.shape;
  sample.label = example.label;
  sample.name = example.name;
  writer.add(sample);
}

// The key of the first of `count` images.
std::string first_key(const WriterOptions& options, Shape shape, const Codec& codec = raw_codec) {
  TempDirectory temporary;
  const auto writer = container("lmdb").create(temporary.path(), options);
  add(*writer, make_examples(shape, 1).front(), codec);
  writer->finish(nullptr);
  return Environment(temporary.path()).entries().front().first;
}

TEST(InteropLmdb, keys_have_the_digits_of_the_tool_that_caffe_has_for_such_images) {
  EXPECT_EQ(first_key({.sharding = {1, 50'000}}, {32, 32, 3}), "00000");
  EXPECT_EQ(first_key({.first = 17, .last = 20}, {32, 32, 3}), "00017");
  EXPECT_EQ(first_key({.sharding = {1, 99'999}}, {32, 32, 3}), "00000");
  EXPECT_EQ(first_key({.sharding = {1, 100'000}}, {32, 32, 3}), "00000000");
  EXPECT_EQ(first_key({}, {32, 32, 3}), "00000000") << "it is not known how many will come";
  EXPECT_EQ(first_key({.sharding = {1, 50'000}}, {32, 32, 3}, png_codec), "00000000");
  EXPECT_EQ(first_key({.sharding = {1, 50'000}}, {28, 28, 1}), "00000000");
  EXPECT_EQ(first_key({.first = 123'456'78}, {28, 28, 1}), "12345678");
}

TEST(InteropLmdb, samples_that_bring_their_own_codec_become_raw_and_encoded_datums) {
  TempDirectory temporary;
  const auto examples = make_examples({4, 3, 3}, 2, true);
  const auto writer = container("lmdb").create(temporary.path(), {});
  add(*writer, examples[0], raw_codec);
  add(*writer, examples[1], png_codec);
  writer->finish(nullptr);
  const auto entries = Environment(temporary.path()).entries();
  EXPECT_EQ(hex(Bytes(entries[0].second).last(2)), "3800");
  EXPECT_EQ(hex(Bytes(entries[1].second).last(2)), "3801");
  EXPECT_EQ(hex(Bytes(entries[1].second).first(1)), "22") << "no shape is stated";
  EXPECT_EQ(verify(*open_dataset(temporary.path()), 1).samples, 2U);
}

TEST(UnitLmdb, planes_stay_as_they_are_or_change_places) {
  const Buffer rgb{std::byte{1}, std::byte{2}, std::byte{3},
                   std::byte{4}, std::byte{5}, std::byte{6}};  // red 1 2, green 3 4, blue 5 6
  TempDirectory temporary;
  const auto writer = container("lmdb").create(temporary.path(), {});
  for (const PixelOrder order : {PixelOrder::planar_rgb, PixelOrder::planar_bgr}) {
    for (const char* name : {"", "a.png"}) {
      Sample sample;
      sample.bytes = rgb;
      sample.codec = &raw_codec;
      sample.shape = {1, 2, 3};
      sample.order = order;
      sample.name = name;
      writer->add(sample);
    }
  }
  writer->finish(nullptr);
  const auto dataset = open_dataset(temporary.path());
  Scratch scratch;
  for (std::uint64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(hex(testing::decode_sample(dataset->read(i, scratch)).pixels),
              i < 2 ? "010305020406" : "050301060402");
  }
}

TEST(UnitLmdb, a_writer_commits_before_a_batch_of_large_images_takes_much_memory) {
  TempDirectory temporary;
  const auto writer = container("lmdb").create(temporary.path(), {});
  const Example large{make_image({1000, 1000, 3}, 1), 1, ""};
  for (int i = 0; i < 12; ++i) add(*writer, large);
  EXPECT_GE(Environment(temporary.path()).stat().ms_entries, 9U) << "without waiting for 1000";
  writer->finish(nullptr);
}

TEST(HostileLmdb, more_samples_than_five_digits_can_sort_are_refused) {
  TempDirectory temporary;
  const auto writer =
      container("lmdb").create(temporary.path(), {.sharding = {1, 50'000}, .first = 99'999});
  const Example image = make_examples({32, 32, 3}, 1).front();
  add(*writer, image);
  expect_error([&] { add(*writer, image); }, {"data.mdb", "sample 100000", "5 digits"});
}

// Values inside leaves and on pages of their own, more than one transaction of them.
std::vector<Example> many_examples() {
  std::vector<Example> examples;
  for (std::uint32_t i = 0; i < 2600; ++i) {
    const Shape shape = i % 5 == 0 ? Shape{60, 70, 3} : Shape{9, 1 + i % 13, 1};
    examples.push_back({make_image(shape, i), static_cast<std::int32_t>(i % 10),
                        i % 3 == 0 ? join("image ", i) : ""});
  }
  return examples;
}

class UnitLmdbResume : public ::testing::Test {
 protected:
  UnitLmdbResume() : examples_(many_examples()) {
    write_dataset(container("lmdb"), raw_codec, temporary_ / "whole", examples_);
    fs::create_directory(set_);
  }

  // Adds the samples from `from` on, pausing after every `stride`; never finishes.
  void write(std::uint64_t from, std::uint64_t stride, std::uint64_t until, const Tell& tell,
             const WriterState* resume) {
    const auto writer = container("lmdb").create(set_, {.codec = &raw_codec, .resume = resume});
    for (std::uint64_t i = from; i < until; ++i) {
      if (i % stride == 0) tell(writer->pause());
      add(*writer, examples_[i]);
    }
    kill_myself();
  }

  void finish(const WriterState& state) {
    const auto writer = container("lmdb").create(set_, {.codec = &raw_codec, .resume = &state});
    for (std::uint64_t i = state.samples; i < examples_.size(); ++i) add(*writer, examples_[i]);
    EXPECT_EQ(writer->pause().samples, examples_.size());
    writer->finish(nullptr);
  }

  void expect_whole() {
    const Environment whole(temporary_ / "whole"), resumed(set_);
    EXPECT_EQ(resumed.entries(), whole.entries());
    EXPECT_EQ(resumed.map_size(), whole.map_size());
    EXPECT_EQ(fs::exists(set_ / "lock.mdb"), false);
  }

  TempDirectory temporary_;
  fs::path set_ = temporary_ / "set";
  std::vector<Example> examples_;
};

TEST_F(UnitLmdbResume, killed_at_any_sample_a_conversion_goes_on_and_ends_the_same) {
  for (const auto& [stride, until] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {1, 1}, {7, 8}, {700, 999}, {700, 1000}, {700, 1001}, {900, 2599}, {2000, 1500}}) {
    const WriterState state =
        last_state_of_killed([&](const Tell& tell) { write(0, stride, until, tell, nullptr); });
    EXPECT_EQ(state.samples, (until - 1) / stride * stride);
    finish(state);
    expect_whole();
    fs::remove(set_ / "data.mdb");
  }
}

TEST_F(UnitLmdbResume, killed_at_any_moment_and_again_it_ends_the_same) {
  std::mt19937 random(7);
  for (int round = 0; round < 6; ++round) {
    WriterState state;
    for (int kill = 0; kill < 3; ++kill) {
      const WriterState before = state;
      const auto patience = std::chrono::microseconds(500 + random() % 25'000);
      state = last_state_of_killed(
          [&](const Tell& tell) {
            tell(before);
            write(before.samples, 100, examples_.size(), tell, &before);
          },
          patience);
    }
    finish(state);
    expect_whole();
    fs::remove(set_ / "data.mdb");
  }
}

TEST_F(UnitLmdbResume, what_was_committed_after_the_pause_is_taken_back) {
  const WriterState state =
      last_state_of_killed([&](const Tell& tell) { write(0, 300, 2599, tell, nullptr); });
  const WriterState earlier{450, {}};
  ASSERT_GT(Environment(set_).stat().ms_entries, 2000U);
  {
    const auto writer = container("lmdb").create(set_, {.codec = &raw_codec, .resume = &earlier});
    EXPECT_EQ(Environment(set_).stat().ms_entries, 450U);
  }
  finish(earlier);
  expect_whole();
}

TEST_F(UnitLmdbResume, a_finished_dataset_may_be_gone_on_with_too) {
  finish({});
  finish({examples_.size() - 1, {}});
  expect_whole();
}

TEST_F(UnitLmdbResume, nothing_paused_starts_anew_whatever_lies_there) {
  write_text(set_ / "data.mdb", "half a meta page");
  finish({});
  expect_whole();
}

TEST_F(UnitLmdbResume, keys_go_on_from_the_first_number_in_the_digits_they_have) {
  const auto cifar = make_examples({32, 32, 3}, 4);
  WriterOptions options{.sharding = {1, 50'000}, .first = 300};
  const WriterState state = last_state_of_killed([&](const Tell& tell) {
    const auto writer = container("lmdb").create(set_, options);
    for (int i = 0; i < 2; ++i) add(*writer, cifar[static_cast<std::size_t>(i)]);
    tell(writer->pause());
    kill_myself();
  });
  options.resume = &state;
  const auto writer = container("lmdb").create(set_, options);
  for (std::size_t i = 2; i < 4; ++i) add(*writer, cifar[i]);
  writer->finish(nullptr);
  const auto entries = Environment(set_).entries();
  ASSERT_EQ(entries.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(entries[i].first, join("0030", i));
}

class HostileLmdbResume : public UnitLmdbResume {
 protected:
  void expect_refused(const WriterOptions& options, std::initializer_list<std::string_view> parts) {
    expect_error([&] { container("lmdb").create(set_, options); }, parts);
  }
};

TEST_F(HostileLmdbResume, too_few_foreign_or_absent_entries_are_refused) {
  const WriterState ten{10, {}};
  expect_refused({.resume = &ten}, {"data.mdb", "No such file"});
  write_dataset(container("lmdb"), raw_codec, set_, make_examples({8, 8, 1}, 9));
  expect_refused({.resume = &ten}, {"data.mdb", "cannot resume", "holds 9 of the 10 samples"});
  const WriterState nine{9, {}};
  expect_refused({.first = 3, .resume = &nine},
                 {"entry 0", "key '00000000'", "not the one of sample 3"});
  {
    Environment other(set_, MDB_NOLOCK);
    other.put("00000000x", "foreign");
    other.commit();
  }
  expect_refused({.resume = &nine}, {"data.mdb", "entry 1", "key '00000000x'"});
  write_text(set_ / "data.mdb", std::string(9000, 'x'));
  expect_refused({.resume = &nine}, {"data.mdb", "not an LMDB file"});
}

// liblmdb writes into whatever the pages tell it: what is damaged is refused, or does no harm.
TEST_F(HostileLmdbResume, three_thousand_damaged_files_are_refused_or_harmless) {
  auto examples = make_examples({8, 8, 1}, 400, true);
  for (std::size_t i = 7; i < 400; i += 30) examples[i].image = make_image({60, 70, 1}, 1);
  {
    const auto writer = container("lmdb").create(set_, {});
    for (std::size_t i = 0; i < examples.size(); ++i) {
      if (i % 90 == 0) writer->pause();  // so that there are free pages, and entries to take back
      add(*writer, examples[i]);
    }
    writer->finish(nullptr);
  }
  const WriterState state{200, {}};
  Buffer sound;
  read_file(set_ / "data.mdb", sound);
  std::vector<std::size_t> used;  // of the pages of the trees, and the starts of all others
  for (std::size_t at = 0; at < sound.size(); ++at) {
    const bool tree = std::to_integer<int>(sound[at / 4096 * 4096 + 10]) != 4;
    if (at % 4096 < 24 || (tree && sound[at] != std::byte{0})) used.push_back(at);
  }
  std::mt19937 random(11);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    Buffer damaged = sound;
    for (std::size_t i = 0; i <= random() % 2; ++i) {
      damaged[used[random() % used.size()]] = static_cast<std::byte>(random());
    }
    fs::remove(set_ / "data.mdb");
    OutputFile file(set_ / "data.mdb");
    file.write(damaged);
    file.close();
    try {
      const auto writer = container("lmdb").create(set_, {.codec = &raw_codec, .resume = &state});
      for (std::uint64_t i = state.samples; i < examples.size(); ++i) add(*writer, examples[i]);
      writer->finish(nullptr);
    } catch (const Error& error) {
      ++refused;
      EXPECT_NE(std::string_view(error.what()).find("data.mdb"), std::string_view::npos);
    }
  }
  EXPECT_GT(refused, 300);
}

}  // namespace
}  // namespace feedrate::formats
