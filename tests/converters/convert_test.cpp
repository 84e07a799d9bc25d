#include "converters/convert.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "formats/io/file.h"
#include "formats/io/mapped_file.h"
#include "formats/verify/verify.h"
#include "tests/converters/made_stream.h"
#include "tests/converters/make_archive.h"
#include "tests/support/data.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using namespace feedrate::testing;
namespace fs = std::filesystem;

Conversion convert_mnist(const fs::path& from, const Container& to, const fs::path& out,
                         const ConvertOptions& options = {}) {
  return convert_dataset(source("mnist"), std::vector{from}, {to, out, "train"}, options);
}

class ConformanceConvert : public ::testing::TestWithParam<const Container*> {};

TEST_P(ConformanceConvert, the_files_do_not_depend_on_the_number_of_threads) {
  const TempDirectory directory;
  write_mnist(directory / "in", 300, 10);
  std::map<std::string, std::string> first;
  for (const unsigned threads : {1U, 2U, 3U, 4U, 8U}) {
    const fs::path out = directory / std::to_string(threads);
    const Conversion made = convert_mnist(directory / "in", *GetParam(), out, {.threads = threads});
    EXPECT_EQ(made.samples, 300U);
    EXPECT_EQ(made.shape, (Shape{28, 28, 1}));
    const auto files = files_of(out);
    if (first.empty()) first = files;
    EXPECT_EQ(files.size(), first.size());
    for (const auto& [name, content] : files) {
      EXPECT_TRUE(content == first[name]) << name << " at " << threads << " threads";
    }
  }
}

TEST_P(ConformanceConvert, what_was_written_is_read_back_as_it_came) {
  const TempDirectory directory;
  write_mnist(directory / "in", 300, 10);
  const fs::path out = directory / "out";
  const Conversion made = convert_mnist(directory / "in", *GetParam(), out, {.threads = 2});
  const auto dataset = GetParam()->open(out);
  ASSERT_EQ(dataset->size(), 300U);
  ASSERT_TRUE(dataset->info().sidecar);
  EXPECT_EQ(dataset->info().sidecar->digest, made.digest.digest);
  const std::string pixels = idx_images(300, 28, 28, 1).substr(16);
  const std::string labels = idx_labels(300).substr(8);
  std::vector<std::size_t> order(300);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!GetParam()->keeps_order()) {
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return labels[i]; });
  }
  Scratch scratch;
  Buffer decoded(784);
  for (std::uint64_t i = 0; i < dataset->size(); ++i) {
    const Sample sample = dataset->read(i, scratch);
    EXPECT_EQ(sample.label, labels[order[i]]);
    decode(sample, decoded);
    EXPECT_EQ(as_text(decoded), pixels.substr(order[i] * 784, 784)) << "image " << order[i];
  }
}

INSTANTIATE_TEST_SUITE_P(, ConformanceConvert,
                         ::testing::ValuesIn(containers().begin(), containers().end()),
                         [](const auto& parameter) {
                           std::string name(parameter.param->name());
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(UnitConvert, a_sample_left_out_is_named_once) {
  EXPECT_EQ((Skipped{5, "five.png", "PNG is damaged"}).text(),
            "sample 5 (five.png): PNG is damaged");
  EXPECT_EQ((Skipped{5, "", "in/a/five.jpg: sample 5: JPEG ends inside its header"}).text(),
            "in/a/five.jpg: sample 5: JPEG ends inside its header");
}

TEST(UnitConvert, the_digest_is_that_of_the_pixels_a_lossy_codec_leaves) {
  const TempDirectory directory;
  write_mnist(directory / "in", 50, 10);
  const Conversion made = convert_mnist(directory / "in", container("recordio"), directory / "out",
                                        {.encoding = Encoding{&jpeg_codec}});
  const Verification found = verify(*open_dataset(directory / "out"), 1);
  EXPECT_TRUE(found.findings.empty());
  EXPECT_EQ(found.digest.digest, made.digest.digest);
  const Conversion exact = convert_mnist(directory / "in", container("lmdb"), directory / "exact");
  EXPECT_NE(exact.digest.digest, made.digest.digest);
}

TEST(UnitConvert, the_sidecar_says_where_the_dataset_came_from) {
  const TempDirectory directory;
  write_mnist(directory / "in", 20, 10);
  convert_mnist(directory / "in", container("lmdb"), directory / "out",
                {.encoding = Encoding{&raw_codec}, .limit = 15});
  const auto sidecar = read_sidecar(directory / "out");
  ASSERT_TRUE(sidecar);
  EXPECT_EQ(sidecar->tool_version, FEEDRATE_VERSION);
  EXPECT_EQ(sidecar->source, "mnist");
  EXPECT_EQ(sidecar->split, "train");
  EXPECT_EQ(sidecar->format, "lmdb");
  EXPECT_EQ(sidecar->codec, "raw");
  EXPECT_EQ(sidecar->count, 15U);
  EXPECT_EQ(sidecar->shape, (Shape{28, 28, 1}));
  EXPECT_EQ(sidecar->classes, 10U);
  EXPECT_EQ(sidecar->options, (std::vector<std::string>{"--encode raw", "--limit 15"}));
  ASSERT_EQ(sidecar->inputs.size(), 2U);
  EXPECT_EQ(sidecar->inputs[1].name, "train-labels-idx1-ubyte.gz");
  const fs::path labels = directory / "in" / "train-labels-idx1-ubyte.gz";
  EXPECT_EQ(sidecar->inputs[1].bytes, fs::file_size(labels));
  EXPECT_EQ(sidecar->inputs[1].hash, file_hash(labels));
}

TEST(UnitConvert, progress_counts_up_to_the_total) {
  const TempDirectory directory;
  write_mnist(directory / "in", 500, 10);
  std::vector<std::uint64_t> seen;
  convert_mnist(directory / "in", container("recordio"), directory / "out",
                {.threads = 3, .progress = [&](std::uint64_t done, std::uint64_t total) {
                   EXPECT_EQ(total, 500U);
                   seen.push_back(done);
                 }});
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  EXPECT_EQ(seen.back(), 500U);
}

TEST(UnitConvert, an_error_in_the_pipeline_comes_out_with_its_own_words) {
  for (const unsigned threads : {1U, 4U}) {
    const TempDirectory directory;
    try {
      convert(made_stream(1000, {.fail_at = 777}),
              {container("recordio"), directory.path(), "train"}, {.threads = threads});
      FAIL() << "no error was thrown";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "made.tar:entry 7: byte 12: the text of the source");
    }
  }
}

TEST(UnitConvert, images_of_different_shapes_have_no_common_one) {
  const TempDirectory directory;
  const Conversion made = convert(made_stream(300, {.wide_at = 200}),
                                  {container("recordio"), directory.path(), "train"}, {});
  EXPECT_EQ(made.samples, 300U);
  EXPECT_EQ(made.shape, Shape{});
}

TEST(HostileConvert, a_sample_that_cannot_be_encoded_is_named) {
  const TempDirectory directory;
  expect_error(
      [&] {
        convert(made_stream(1000, {.short_at = 321}),
                {container("recordio"), directory.path(), "train"}, {.threads = 3});
      },
      {"sample 321", "expected 2x2x1 = 4 bytes", "found 3"});
}

// That of a dataset comes from its sidecar, which anybody may have written.
TEST(HostileConvert, a_split_cannot_lead_out_of_the_output) {
  const TempDirectory directory;
  fs::create_directory(directory / "out");
  for (const char* split : {"", ".", "..", "../x", "/x", "a/b", "a\nb"}) {
    for (const char* to : {"tfrecord", "webdataset", "png-map", "recordio"}) {
      expect_error(
          [&] {
            convert(made_stream(10, {}), {container(to), directory / "out", split}, {});
          },
          {"expected a split", join("'", split, "'")});
    }
  }
  EXPECT_TRUE(fs::is_empty(directory / "out"));
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), {}), 1);
}

TEST(HostileConvert, a_source_that_ends_before_its_promise_is_an_error) {
  const TempDirectory directory;
  expect_error(
      [&] {
        constexpr std::uint64_t whole_chunks = 640;
        convert(made_stream(1000, {.end_at = whole_chunks}),
                {container("recordio"), directory.path(), "train"}, {});
      },
      {"promised 1000 samples and gave 640"});
}

TEST(HostileConvert, a_codec_that_the_format_does_not_hold_is_refused_with_those_it_does) {
  const TempDirectory directory;
  write_mnist(directory / "in", 20, 10);
  expect_error(
      [&] {
        convert_mnist(directory / "in", container("png-map"), directory / "out",
                      {.encoding = Encoding{&raw_codec}});
      },
      {"png-map does not hold raw images; it holds png"});
  EXPECT_FALSE(fs::exists(directory / "out"));
}

TEST(HostileConvert, damage_leaves_nothing_behind) {
  for (const Container* container : containers()) {
    const TempDirectory directory;
    write_mnist(directory / "in", 600, 10);
    write(directory / "in" / "train-images-idx3-ubyte.gz",
          compressed(idx_images(600, 28, 28).substr(0, 16 + 555 * 784 + 1)));
    expect_error([&] { convert_mnist(directory / "in", *container, directory / "out"); },
                 {"train-images", "image 555 of 600", "truncated"});
    EXPECT_FALSE(fs::exists(directory / "out"));
    EXPECT_FALSE(fs::exists(directory / "out.partial"));
  }
}

TEST(HostileConvert, what_is_there_already_is_left_alone) {
  const TempDirectory directory;
  write_mnist(directory / "in", 20, 10);
  fs::create_directory(directory / "out");
  write(directory / "out" / "precious", "x");
  expect_error([&] { convert_mnist(directory / "in", container("lmdb"), directory / "out"); },
               {"out", "exists"});
  EXPECT_EQ(files_of(directory / "out"), (std::map<std::string, std::string>{{"precious", "x"}}));
}

// kill -9 in the middle: a child converts until its first progress, then waits to be killed.
TEST(HostileConvert, killed_in_the_middle_it_leaves_only_the_partial_directory) {
  const TempDirectory directory;
  write_mnist(directory / "in", 2000, 10);
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    convert_mnist(directory / "in", container("recordio"), directory / "out",
                  {.threads = 1, .progress = [&](std::uint64_t, std::uint64_t) {
                     if (::write(ready[1], "x", 1) == 1) ::pause();
                   }});
    ::_exit(0);
  }
  char signalled = 0;
  ASSERT_EQ(::read(ready[0], &signalled, 1), 1);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(fs::exists(directory / "out"));
  EXPECT_TRUE(fs::exists(directory / "out.partial"));
  // The next run cleans up and succeeds.
  convert_mnist(directory / "in", container("recordio"), directory / "out");
  EXPECT_TRUE(fs::exists(directory / "out"));
  EXPECT_FALSE(fs::exists(directory / "out.partial"));
}

// A limit on the size of files simulates a full disk: write(2) fails in the same way.
TEST(HostileConvert, a_mapped_input_that_shrinks_leaves_nothing_behind) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process remembers lost pages
  const TempDirectory directory;
  const auto shrink_and_convert = [&] {
    write_text(directory / "input.tar", std::string(65536, 'x'));
    const MappedFile input(directory / "input.tar");
    ConvertOptions options;
    options.progress = [&](std::uint64_t, std::uint64_t) {
      fs::resize_file(input.path(), 0);
      EXPECT_EQ(input.bytes()[0], std::byte{0});
    };
    try {
      convert_dataset(MadeSource(100), {}, {container("lmdb"), directory / "out", "train"},
                      options);
    } catch (const Error& error) {
      std::fputs(error.what(), stderr);
      std::_Exit(fs::exists(directory / "out") || fs::exists(directory / "out.partial") ? 2 : 1);
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(shrink_and_convert(), ::testing::ExitedWithCode(1), "input.tar: became shorter");
}

TEST(HostileConvert, a_full_disk_is_an_error_and_leaves_nothing) {
  for (const Container* container : containers()) {
    const TempDirectory directory;
    write_mnist(directory / "in", 2000, 10);
    const pid_t child = ::fork();
    if (child == 0) {
      ::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{256, 256};  // bytes: less than any file of the formats except maps
      ::setrlimit(RLIMIT_FSIZE, &limit);
      try {
        convert_mnist(directory / "in", *container, directory / "out", {.threads = 1});
        ::_exit(1);
      } catch (const Error& error) {
        const std::string_view message = error.what();
        ::_exit(message.find("out.partial") != std::string_view::npos ? 0 : 2);
      }
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << container->name() << ": status " << status;
    EXPECT_FALSE(fs::exists(directory / "out"));
    EXPECT_FALSE(fs::exists(directory / "out.partial"));
  }
}

TEST(InteropConvert, real_mnist_has_one_digest_in_every_format) {
  const auto mnist = data_file("mnist");
  if (!mnist) GTEST_SKIP() << "no MNIST files on this machine";
  const TempDirectory directory;
  std::vector<std::string> digests;
  constexpr std::uint64_t some = 2000;  // of the 10,000: creating and removing PNG files is slow
  for (const Container* container : containers()) {
    const Conversion made =
        convert_dataset(source("mnist"), std::vector{*mnist},
                        {*container, directory / container->name(), "test"}, {.limit = some});
    EXPECT_EQ(made.samples, some);
    digests.push_back(made.digest.digest);
  }
  EXPECT_EQ(digests, std::vector(digests.size(), digests.front()));
}

}  // namespace
}  // namespace feedrate::converters
