// Datasets whose files change while a loader reads them: an error that names the file, never a
// crash or a mixture of old and new data.

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "formats/base/lost_pages.h"
#include "formats/dataset.h"
#include "formats/io/file.h"
#include "loader/loader.h"
#include "loader/read_pixels.h"
#include "tests/support/expect_error.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::loader {
using namespace formats;

namespace {

namespace fs = std::filesystem;
using namespace testing;

// Formats that are read in place, and the extension of the file that holds their pixels.
struct MappedFormat {
  const char* format;
  const char* extension;
};
constexpr MappedFormat mapped_formats[] = {
    {"lmdb", ".mdb"}, {"recordio", ".rec"}, {"tfrecord", ""}, {"webdataset", ".tar"}};

class ChangingDataset {
 public:
  explicit ChangingDataset(const MappedFormat& format, const Codec& codec = png_codec)
      : path_(directory_ / format.format) {
    write_dataset(container(format.format), codec, path_, make_examples({64, 64, 3}, 200));
    std::uint64_t largest = 0;
    for (const auto& entry : fs::recursive_directory_iterator(path_)) {
      if (!entry.is_regular_file() || entry.file_size() < largest) continue;
      largest = entry.file_size();
      file_ = entry.path();
    }
    EXPECT_EQ(file_.string().find(format.extension) != std::string::npos, true) << file_;
    dataset_ = open_dataset(path_);
  }
  const Dataset& dataset() const { return *dataset_; }
  const fs::path& file() const { return file_; }

 private:
  TempDirectory directory_;
  fs::path path_;
  fs::path file_;
  std::unique_ptr<Dataset> dataset_;
};

void read_to_end(Loader& loader) {
  while (loader.next() != nullptr) continue;
}

TEST(HostileChangedFiles, a_file_that_shrinks_ends_the_run_with_its_name_under_every_policy) {
  for (const MappedFormat& format : mapped_formats) {
    for (const unsigned threads : {0U, 2U}) {
      for (const BadPolicy policy : {BadPolicy::fail, BadPolicy::replace, BadPolicy::skip}) {
        const ChangingDataset changed(format);
        LoaderOptions options{
            .threads = threads, .batch = 8, .epochs = 1000, .bad = {.policy = policy}};
        options.bad.budget = 1'000'000;
        Loader loader(changed.dataset(), recipe("none"), options);
        ASSERT_NE(loader.next(), nullptr);
        const std::uint64_t before = fs::file_size(changed.file());
        fs::resize_file(changed.file(), 8192);
        expect_error([&] { read_to_end(loader); },
                     {changed.file().string(), "became shorter while it was being read",
                      std::to_string(before), "8192"});
      }
    }
  }
}

// The system reports a missing page to its first reader only; later ones read zeros.
TEST(HostileChangedFiles, a_shrunk_file_ends_the_run_even_if_another_thread_hit_the_missing_pages) {
  for (const MappedFormat& format : mapped_formats) {
    const ChangingDataset changed(format);
    LoaderOptions options{
        .threads = 0, .batch = 8, .epochs = 1000, .bad = {.policy = BadPolicy::replace}};
    options.bad.budget = 1'000'000;
    Loader loader(changed.dataset(), recipe("none"), options);
    ASSERT_NE(loader.next(), nullptr);
    fs::resize_file(changed.file(), 8192);
    std::thread([&] {
      Scratch scratch;
      for (std::uint64_t i = 0; i < changed.dataset().size(); ++i) {
        try {
          const Sample sample = changed.dataset().read(i, scratch);
          Buffer(sample.bytes.begin(), sample.bytes.end());
        } catch (const Error&) {
        }
      }
      EXPECT_NE(lost_pages_of_thread(), "");
    }).join();
    expect_error([&] { read_to_end(loader); }, {changed.file().string(), "became shorter"});
  }
}

// In a dataset of raw pixels, a page of zeros would pass for a black image.
TEST(HostileChangedFiles, a_single_image_of_a_file_that_shrank_is_an_error_each_time) {
  for (const MappedFormat& format : mapped_formats) {
    for (const Codec* codec : {&png_codec, &raw_codec}) {
      if (!container(format.format).accepts(*codec)) continue;
      const ChangingDataset changed(format, *codec);
      fs::resize_file(changed.file(), 8192);
      Scratch scratch;
      Buffer pixels;
      const std::uint64_t last = changed.dataset().size() - 1;
      for (int attempt = 0; attempt < 2; ++attempt) {
        expect_error(
            [&] { static_cast<void>(read_pixels(changed.dataset(), last, scratch, pixels)); },
            {changed.file().string(), "became shorter while it was being read"});
        EXPECT_EQ(lost_pages_of_thread(), "");
      }
    }
  }
}

TEST(HostileChangedFiles, a_file_that_is_written_to_ends_the_run_at_the_end_of_the_epoch) {
  for (const MappedFormat& format : mapped_formats) {
    const ChangingDataset changed(format);
    Loader loader(changed.dataset(), recipe("none"), {.threads = 2, .batch = 8, .epochs = 1000});
    ASSERT_NE(loader.next(), nullptr);
    std::ofstream(changed.file(), std::ios::app) << "more";
    fs::last_write_time(changed.file(),
                        fs::last_write_time(changed.file()) + std::chrono::seconds(1));
    expect_error([&] { read_to_end(loader); }, {changed.file().string(), "was changed while"});
  }
}

TEST(HostileChangedFiles, a_file_that_is_replaced_changes_nothing) {
  for (const MappedFormat& format : mapped_formats) {
    const ChangingDataset changed(format);
    Loader loader(changed.dataset(), recipe("none"), {.threads = 2, .batch = 8, .epochs = 3});
    fs::rename(changed.file(), changed.file().string() + ".old");
    write_text(changed.file(), "another");
    EXPECT_NO_THROW(read_to_end(loader));
  }
}

}  // namespace
}  // namespace feedrate::loader
