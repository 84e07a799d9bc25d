// Every container and codec, damaged in every way: the result is an Error that names the place, a
// finding, or the same images. Never a crash, and never wrong images that pass for right ones.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "formats/io/file.h"
#include "formats/verify/verify.h"
#include "tests/support/expect_error.h"
#include "tests/support/format_pairs.h"
#include "tests/support/sample_images.h"
#include "tests/support/small_files.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;
using testing::format_pairs;
using testing::FormatPair;
using testing::make_examples;
using testing::TempDirectory;
using testing::test_name;
using testing::write_dataset;

class HostileFormats : public ::testing::TestWithParam<FormatPair> {
 protected:
  HostileFormats() {
    auto examples = make_examples({6, 5, 3}, 4, true);
    const auto large = make_examples({60, 50, 1}, 2);  // in LMDB on overflow pages of their own
    examples.insert(examples.end(), large.begin(), large.end());
    write_dataset(*GetParam().container, *GetParam().codec, set_, examples);
    Sidecar sidecar;
    sidecar.count = examples.size();
    const Verification sound = verify(*open_as_found(set_), 1);
    sidecar.digest = sound.written_digest;
    sidecar.set_digest = sound.digest.set_digest;
    digest_ = sound.digest.digest;
    write_sidecar(set_, sidecar);
    for (const auto& entry : fs::recursive_directory_iterator(set_)) {
      if (entry.is_regular_file() && entry.path().filename() != sidecar_name) {
        files_.push_back(entry.path());
      }
    }
    std::sort(files_.begin(), files_.end());
  }

  static void overwrite(const fs::path& file, const Buffer& content) {
    fs::remove(file);  // ext4 flushes a file that is truncated and written again, at every close
    OutputFile output(file);
    output.write(content);
    output.close();
  }

  void expect_noticed(const fs::path& file, const Buffer& damaged, const std::string& what) {
    overwrite(file, damaged);
    try {
      const Verification result = verify(*open_as_found(set_), 1);
      EXPECT_TRUE(!result.findings.empty() || result.digest.digest == digest_) << what;
    } catch (const Error& error) {
      EXPECT_NE(std::string_view(error.what()).find(set_.string()), std::string_view::npos)
          << what << ": " << error.what();
    }
  }

  // Calls it for each file of the dataset with its intact bytes; restores the file afterwards.
  template <class Damage>
  void for_each_file(const Damage& damage) {
    for (const fs::path& file : files_) {
      Buffer sound;
      read_file(file, sound);
      damage(file, sound);
      overwrite(file, sound);
    }
    EXPECT_TRUE(verify(*open_as_found(set_), 1).findings.empty());
  }

  TempDirectory temporary_;
  fs::path set_ = temporary_ / "set";
  std::vector<fs::path> files_;
  std::string digest_;
};

TEST_P(HostileFormats, truncated_files_are_noticed) {
  for_each_file([&](const fs::path& file, const Buffer& sound) {
    const std::size_t step = std::max<std::size_t>(1, sound.size() / 150);
    for (std::size_t size = 0; size < sound.size(); size += step) {
      expect_noticed(file, Buffer(sound.begin(), sound.begin() + static_cast<long>(size)),
                     join(file.filename(), " cut at ", size));
    }
  });
}

TEST_P(HostileFormats, missing_files_are_noticed_or_not_needed) {
  for_each_file([&](const fs::path& file, const Buffer&) {
    fs::remove(file);
    try {
      const Verification result = verify(*open_as_found(set_), 1);
      EXPECT_TRUE(!result.findings.empty() || result.digest.digest == digest_) << file;
    } catch (const Error& error) {
      EXPECT_NE(std::string_view(error.what()).find(set_.string()), std::string_view::npos);
    }
  });
}

TEST_P(HostileFormats, a_dataset_that_lost_samples_is_opened_for_verify_alone) {
  // A shorter run of the same command under the old sidecar: every file is intact.
  const std::string sidecar = read_text(set_ / sidecar_name);
  fs::remove_all(set_);
  write_dataset(*GetParam().container, *GetParam().codec, set_, make_examples({6, 5, 3}, 4, true));
  write_text(set_ / sidecar_name, sidecar);
  expect_error([&] { open_dataset(set_); },
               {"/set", "expected the 6 samples", "found 4", "verify"});
  EXPECT_FALSE(verify(*open_as_found(set_), 1).findings.empty());
  fs::remove(set_ / sidecar_name);
  EXPECT_EQ(open_dataset(set_)->size(), 4U);
}

TEST_P(HostileFormats, numbers_made_huge_are_noticed) {
  for_each_file([&](const fs::path& file, const Buffer& sound) {
    const std::size_t step = std::max<std::size_t>(1, sound.size() / 400);
    for (std::size_t at = 0; at + 4 <= sound.size(); at += step) {
      Buffer damaged = sound;
      std::fill_n(damaged.begin() + static_cast<long>(at), 4, std::byte{0xff});
      expect_noticed(file, damaged, join(file.filename(), " made huge at ", at));
    }
  });
}

TEST_P(HostileFormats, two_thousand_random_mutations_are_noticed) {
  std::mt19937 random(20240229);
  const auto below = [&](std::size_t bound) { return random() % std::max<std::size_t>(bound, 1); };
  const std::size_t rounds = 2000 / files_.size();
  for_each_file([&](const fs::path& file, const Buffer& sound) {
    // LMDB leaves most of a page empty; damage to used bytes tests more.
    std::vector<std::size_t> used;
    for (std::size_t i = 0; i < sound.size(); ++i) {
      if (sound[i] != std::byte{0}) used.push_back(i);
    }
    for (std::size_t round = 0; round < rounds; ++round) {
      Buffer damaged = sound;
      for (std::size_t i = 0; i <= below(3); ++i) {
        const std::size_t at = below(2) == 0 ? below(sound.size()) : used[below(used.size())];
        switch (below(4)) {
          case 0:
            damaged[at] ^= static_cast<std::byte>(1U << below(8));
            break;
          case 1:
            damaged[at] = static_cast<std::byte>(random());
            break;
          case 2:
            damaged[at] = damaged[below(damaged.size())];
            break;
          default:
            for (std::size_t k = at; k < std::min(at + 8, damaged.size()); ++k) {
              damaged[k] = sound[below(sound.size())];
            }
        }
      }
      expect_noticed(file, damaged, join(file.filename(), " round ", round));
    }
  });
}

TEST_P(HostileFormats, every_flipped_bit_of_a_short_file_is_noticed) {
  for_each_file([&](const fs::path& file, const Buffer& sound) {
    if (sound.size() > 400) return;
    for (std::size_t bit = 0; bit < 8 * sound.size(); ++bit) {
      Buffer damaged = sound;
      damaged[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
      expect_noticed(file, damaged, join(file.filename(), " bit ", bit));
    }
  });
}

TEST_P(HostileFormats, a_disk_that_takes_no_more_is_reported) {
  const testing::SmallFiles files_are_small(40960);
  const auto examples = make_examples({300, 300, 3}, 40);
  expect_error(
      [&] {
        write_dataset(*GetParam().container, *GetParam().codec, temporary_ / "full", examples);
      },
      {"/full/", "write", ": "});
}

INSTANTIATE_TEST_SUITE_P(, HostileFormats, ::testing::ValuesIn(format_pairs()), test_name);

}  // namespace
}  // namespace feedrate::formats
