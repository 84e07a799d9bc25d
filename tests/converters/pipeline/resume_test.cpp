// A conversion killed at any moment resumes and ends as if nothing had happened, in every format.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "converters/convert.h"
#include "converters/pipeline/describe_conversion.h"
#include "converters/pipeline/join.h"
#include "formats/base/stop.h"
#include "formats/verify/verify.h"
#include "tests/converters/made_stream.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using namespace feedrate::testing;
namespace fs = std::filesystem;

constexpr std::uint64_t resumed_images = 2000;
constexpr std::uint64_t often = 300;  // bytes between two saves: many saves in a small dataset
constexpr std::uint64_t never = ~std::uint64_t{0};

Conversion convert_resumable(const Container& to, const fs::path& out,
                             ConvertOptions options = {}) {
  options.threads = 2;
  if (options.journal_bytes != never) options.journal_bytes = often;
  return convert_dataset(MadeSource(resumed_images), {}, {to, out, "train"}, options);
}

/// Converts in a child that is killed by `signal` once `done` images are written.
void convert_and_die(const Container& to, const fs::path& out, std::uint64_t done,
                     ConvertOptions options = {}) {
  const pid_t child = ::fork();
  if (child == 0) {
    options.progress = [&](std::uint64_t written, std::uint64_t) {
      if (written >= done) ::kill(::getpid(), SIGKILL);
    };
    convert_resumable(to, out, options);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_FALSE(fs::exists(out));
}

/// Converts in a child in which a stop is requested once `done` images are written, as by Ctrl-C.
void convert_and_stop(const Container& to, const fs::path& out, std::uint64_t done) {
  const pid_t child = ::fork();
  if (child == 0) {
    ConvertOptions options;
    options.threads = 2;  // and a journal that only the stop makes it write
    options.progress = [&](std::uint64_t written, std::uint64_t) {
      if (written >= done) request_stop();
    };
    try {
      convert_dataset(MadeSource(resumed_images), {}, {to, out, "train"}, options);
    } catch (const Stopped&) {
      ::_exit(42);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  ASSERT_EQ(WEXITSTATUS(status), 42);
  ASSERT_FALSE(fs::exists(out));
}

class ConformanceResume : public ::testing::TestWithParam<const Container*> {
 protected:
  // The same samples, digests and files; only the pages of an LMDB may be placed differently.
  void expect_same(const fs::path& one, const fs::path& other) const {
    const Sidecar a = *read_sidecar(one);
    const Sidecar b = *read_sidecar(other);
    EXPECT_EQ(a.digest, b.digest);
    EXPECT_EQ(a.bytes_digest, b.bytes_digest);
    EXPECT_EQ(a.class_counts, b.class_counts);
    EXPECT_EQ(verify(*open_dataset(one), 2).findings.size(), 0U);
    auto these = files_of(one);
    auto those = files_of(other);
    these.erase("data.mdb");
    those.erase("data.mdb");
    EXPECT_EQ(these.size(), those.size());
    for (const auto& [name, content] : these) EXPECT_TRUE(content == those[name]) << name;
  }

  const TempDirectory directory_;
};

TEST_P(ConformanceResume, killed_anywhere_it_goes_on_to_the_same_dataset) {
  convert_resumable(*GetParam(), directory_ / "whole");
  for (const std::uint64_t done : {1U, 500U, 1100U, 1999U}) {
    const fs::path out = directory_ / std::to_string(done);
    convert_and_die(*GetParam(), out, done);
    const Conversion resumed = convert_resumable(*GetParam(), out, {.resume = true});
    EXPECT_EQ(resumed.samples, resumed_images);
    if (done > 64) {  // more than what is written at once
      EXPECT_GT(resumed.resumed_at, 0U) << done;
    }
    expect_same(out, directory_ / "whole");
    EXPECT_FALSE(fs::exists(out.string() + ".partial"));
    fs::remove_all(out);
  }
}

TEST_P(ConformanceResume, stopped_on_request_it_loses_nothing) {
  convert_resumable(*GetParam(), directory_ / "whole");
  convert_and_stop(*GetParam(), directory_ / "out", 900);
  const Conversion resumed = convert_resumable(*GetParam(), directory_ / "out", {.resume = true});
  EXPECT_GE(resumed.resumed_at, 900U);
  EXPECT_EQ(resumed.samples, resumed_images);
  expect_same(directory_ / "out", directory_ / "whole");
}

TEST_P(ConformanceResume, killed_twice_it_still_ends_well) {
  convert_resumable(*GetParam(), directory_ / "whole");
  convert_and_die(*GetParam(), directory_ / "out", 400);
  convert_and_die(*GetParam(), directory_ / "out", 1400, {.resume = true});
  EXPECT_GT(convert_resumable(*GetParam(), directory_ / "out", {.resume = true}).resumed_at, 400U);
  expect_same(directory_ / "out", directory_ / "whole");
}

TEST_P(ConformanceResume, shuffled_samples_go_on_in_their_order) {
  convert_resumable(*GetParam(), directory_ / "whole", {.shuffle = 5});
  convert_and_die(*GetParam(), directory_ / "out", 700, {.shuffle = 5});
  convert_resumable(*GetParam(), directory_ / "out", {.shuffle = 5, .resume = true});
  expect_same(directory_ / "out", directory_ / "whole");
}

TEST_P(ConformanceResume, killed_before_its_first_save_it_leaves_nothing_in_what_follows) {
  const fs::path out = directory_ / "out";
  ConvertOptions other{.shuffle = 5, .journal_bytes = never};
  if (GetParam()->shardable()) other.shards = 3;
  for (const std::uint64_t limit : {0U, 300U}) {
    convert_and_die(*GetParam(), out, 1500, other);
    fs::create_directories(out.string() + ".partial/00000");
    write_text(out.string() + ".partial/00000/stale.png", "of an earlier run");
    const Conversion made =
        convert_resumable(*GetParam(), out, {.shuffle = 6, .limit = limit, .resume = true});
    EXPECT_EQ(made.resumed_at, 0U);
    const fs::path whole = directory_ / ("whole-" + std::to_string(limit));
    convert_resumable(*GetParam(), whole, {.shuffle = 6, .limit = limit});
    expect_same(out, whole);
    fs::remove_all(out);
  }
}

TEST_P(ConformanceResume, without_a_file_of_an_earlier_run_it_starts_over) {
  if (GetParam()->name() == "lmdb") GTEST_SKIP() << "all is in one file, which is being written";
  const ConvertOptions options{.shards = GetParam()->shardable() ? 4U : 1U};
  ConvertOptions resumed = options;
  resumed.resume = true;
  convert_resumable(*GetParam(), directory_ / "whole", options);
  convert_and_die(*GetParam(), directory_ / "out", 1400, options);
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory_ / "out.partial")) {
    const std::string name = entry.path().filename().string();
    const bool of_samples = name.ends_with(".png") || name.find("-00000-of-") != name.npos ||
                            name == "train-000000.tar";
    if (entry.is_regular_file() && of_samples) files.push_back(entry.path());
  }
  ASSERT_FALSE(files.empty());
  fs::remove(files.front());
  EXPECT_THROW(convert_resumable(*GetParam(), directory_ / "out", resumed), Error);
  EXPECT_FALSE(fs::exists(directory_ / "out"));
  EXPECT_EQ(convert_resumable(*GetParam(), directory_ / "out", resumed).resumed_at, 0U);
  expect_same(directory_ / "out", directory_ / "whole");
}

TEST_P(ConformanceResume, with_nothing_to_go_on_from_it_starts_anew) {
  convert_resumable(*GetParam(), directory_ / "whole");
  EXPECT_EQ(convert_resumable(*GetParam(), directory_ / "out", {.resume = true}).resumed_at, 0U);
  expect_same(directory_ / "out", directory_ / "whole");
}

INSTANTIATE_TEST_SUITE_P(, ConformanceResume,
                         ::testing::ValuesIn(containers().begin(), containers().end()),
                         [](const auto& parameter) {
                           std::string name(parameter.param->name());
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(HostileResume, other_options_are_refused_and_what_was_done_is_kept) {
  const TempDirectory directory;
  convert_and_die(container("recordio"), directory / "out", 700, {.shuffle = 5});
  expect_error(
      [&] {
        convert_resumable(container("recordio"), directory / "out", {.shuffle = 6, .resume = true});
      },
      {"out.partial", "--shuffle 5", "--shuffle 6", "cannot be resumed"});
  convert_resumable(container("recordio"), directory / "out", {.shuffle = 5, .resume = true});
}

// Of a directory that is read as a whole, its own time says nothing of the classes in it.
TEST(HostileResume, a_folder_whose_images_changed_is_another_input) {
  const TempDirectory directory;
  const fs::path input = directory / "input";
  convert_dataset(MadeSource(20), {}, {container("folder"), input, "train"}, {});
  const auto class_0 = fs::directory_iterator(input / "00000");
  const fs::path image = class_0->path();
  const auto purpose = [&] {
    return purpose_of(source("folder"), std::vector{input}, {container("recordio"), {}}, {});
  };
  const std::vector<std::string> before = purpose();
  EXPECT_EQ(purpose(), before);
  fs::copy_file(image, input / "00000" / "another.png");
  EXPECT_NE(purpose(), before);
  EXPECT_NE(common_purpose(purpose()), common_purpose(before));
  fs::remove(input / "00000" / "another.png");
  EXPECT_EQ(common_purpose(purpose()), common_purpose(before));
  fs::rename(image, input / "00001" / "another.png");
  EXPECT_NE(common_purpose(purpose()), common_purpose(before));
}

TEST(HostileResume, an_image_written_over_in_place_is_another_input) {
  const TempDirectory directory;
  const fs::path input = directory / "input";
  convert_dataset(MadeSource(20), {}, {container("folder"), input, "train"}, {});
  const fs::path image = fs::directory_iterator(input / "00000")->path();
  const auto purpose = [&] {
    return purpose_of(source("folder"), std::vector{input}, {container("recordio"), {}}, {});
  };
  const std::vector<std::string> before = purpose();
  const std::string content = read_text(image);
  fs::last_write_time(image, fs::last_write_time(image) + std::chrono::seconds(1));
  const std::vector<std::string> later = purpose();
  EXPECT_NE(later, before);
  EXPECT_EQ(common_purpose(later), common_purpose(before));
  write_text(image, content + "more");
  EXPECT_NE(common_purpose(purpose()), common_purpose(before));
}

// What an earlier call made of `input`.
std::optional<Conversion> finished(const Source& from, const fs::path& input, const fs::path& out) {
  return finished_conversion(from, std::vector{input}, {container("recordio"), out, "train"}, {});
}

TEST(HostileResume, an_image_moved_to_another_class_is_not_what_was_converted) {
  const TempDirectory directory;
  const fs::path input = directory / "input", out = directory / "out";
  convert_dataset(MadeSource(20), {}, {container("folder"), input, "train"}, {});
  convert_dataset(source("folder"), std::vector{input}, {container("recordio"), out, "train"}, {});
  ASSERT_TRUE(finished(source("folder"), input, out));
  const fs::path image = fs::directory_iterator(input / "00000")->path();
  fs::rename(image, input / "00001" / "moved.png");
  expect_error([&] { finished(source("folder"), input, out); }, {"exists already", "input"});
  fs::rename(input / "00001" / "moved.png", image);
  EXPECT_TRUE(finished(source("folder"), input, out));
}

TEST(HostileResume, another_dataset_of_the_same_name_and_size_is_not_what_was_converted) {
  const TempDirectory directory;
  const fs::path input = directory / "input", out = directory / "out";
  const auto make_input = [&](std::uint64_t seed) {
    fs::remove_all(input);
    convert_dataset(MadeSource(20), {}, {container("lmdb"), input, "train"}, {.shuffle = seed});
  };
  make_input(1);
  const auto size = fs::file_size(input / "data.mdb");
  for (const fs::path& path : {input, input / "data.mdb"}) {
    make_input(1);
    convert_dataset(source("dataset"), std::vector{path}, {container("recordio"), out, "train"},
                    {});
    ASSERT_TRUE(finished(source("dataset"), path, out));
    make_input(2);
    ASSERT_EQ(fs::file_size(input / "data.mdb"), size);
    expect_error([&] { finished(source("dataset"), path, out); }, {"exists already", "input"});
    fs::remove_all(out);
  }
}

TEST(HostileResume, parts_of_a_folder_that_changed_between_them_are_not_joined) {
  const TempDirectory directory;
  const fs::path input = directory / "input", out = directory / "out";
  convert_dataset(MadeSource(20), {}, {container("folder"), input, "train"}, {});
  fs::remove(input / sidecar_name);  // which would tell that an image is gone
  ConvertOptions options{.shards = 2};
  for (const std::uint32_t number : {1U, 2U}) {
    options.part = {number, 2};
    convert_dataset(source("folder"), std::vector{input}, {container("recordio"), out, "train"},
                    options);
    fs::remove(fs::directory_iterator(input / "00000")->path());
  }
  expect_error([&] { join_parts(out); }, {"part-2-of-2", "input", "entries"});
}

TEST(HostileResume, a_full_disk_leaves_what_can_be_resumed) {
  const TempDirectory directory;
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    constexpr rlim_t some = std::size_t{128} << 10;  // bytes: less than all records take
    const rlimit limit{some, some};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      convert_resumable(container("recordio"), directory / "out");
      ::_exit(1);
    } catch (const Error&) {
      ::_exit(0);
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_FALSE(fs::exists(directory / "out"));
  const Conversion resumed =
      convert_resumable(container("recordio"), directory / "out", {.resume = true});
  EXPECT_GT(resumed.resumed_at, 0U);
  EXPECT_EQ(resumed.samples, resumed_images);
}

TEST(HostileResume, files_that_became_shorter_are_refused) {
  const TempDirectory directory;
  convert_and_die(container("recordio"), directory / "out", 1500);
  fs::resize_file(directory / "out.partial" / "data.rec", 100);
  expect_error(
      [&] { convert_resumable(container("recordio"), directory / "out", {.resume = true}); },
      {"data.rec", "cannot go on writing"});
}

}  // namespace
}  // namespace feedrate::converters
