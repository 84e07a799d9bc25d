// Random damage to datasets of every format, as `feedrate convert` writes them: `feedrate verify`
// notices it, or every sample, every class and every mean is still the one that was written.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "converters/convert.h"
#include "formats/io/file.h"
#include "formats/means/mean_format.h"
#include "formats/verify/verify.h"
#include "tests/converters/make_archive.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using namespace feedrate::testing;
namespace fs = std::filesystem;

/// Twelve small JPEGs of three classes, with names and boxes.
class Photographs final : public Source {
 public:
  Photographs() : Source("photographs", "small JPEGs") {}
  std::vector<std::string> splits(std::span<const fs::path>) const override { return {"train"}; }
  std::vector<fs::path> files(std::span<const fs::path>, std::string_view) const override {
    return {};
  }
  std::unique_ptr<SampleStream> open(std::span<const fs::path>, std::string_view) const override {
    return std::make_unique<Stream>();
  }

 private:
  class Stream final : public SampleStream {
   public:
    Stream() {
      info_.size = 12;
      info_.classes = 4;
      info_.class_names = {{"n01", "n02", "n03", "n04"}, {"ant", "bee", "cat", "dog"}};
      info_.notes = {"drawn for a test"};
    }
    const StreamInfo& info() const override { return info_; }
    bool next(Sample& sample) override {
      if (index_ == info_.size) return false;
      const auto label = static_cast<std::int32_t>(index_ * 7 % 3);
      jpeg_codec.encode(make_image({20, 24, 3}, index_), jpeg_);
      name_ = join("n0", label + 1, "/photograph_", index_, ".jpg");
      box_ = {0.25F, 0.125F, 0.5F, static_cast<float>(index_ + 5) / 20};
      sample = {.bytes = jpeg_, .codec = &jpeg_codec, .shape = {20, 24, 3}, .label = label};
      sample.name = name_;
      sample.boxes = {&box_, 1};
      ++index_;
      return true;
    }

   private:
    StreamInfo info_;
    std::uint32_t index_ = 0;
    Buffer jpeg_;
    std::string name_;
    Box box_;
  };
};

/// What a dataset tells its users: in one text, to be compared.
std::string told(const fs::path& path) {
  const auto dataset = open_dataset(path);
  const DatasetInfo& info = dataset->info();
  std::string text = join(info.format, ' ', info.codec, ' ', info.size, ' ', info.classes, '\n');
  for (const std::string& name : info.class_names.names) text += name + '\n';
  Scratch scratch;
  for (std::uint64_t i = 0; i < dataset->size(); ++i) {
    const Sample sample = dataset->read(i, scratch);
    text += join(sample.label, ' ', sample.name, ' ', sample.shape.height, 'x', sample.shape.width,
                 'x', sample.shape.channels, ' ', as_text(sample.bytes), '\n');
    for (const Box& box : sample.boxes) {
      text += join(box.xmin, ' ', box.ymin, ' ', box.xmax, ' ', box.ymax, '\n');
    }
    for (const float label : sample.labels) text += join(label, '\n');
  }
  for (const auto& entry : fs::directory_iterator(path)) {
    if (mean_format_of(entry.path()) == nullptr) continue;
    for (const double value : read_mean(entry.path()).values) text += join(value, ' ');
  }
  return text + nlohmann::ordered_json::parse(read_text(path / sidecar_name)).dump();
}

enum class Mutation { flip, zero, insert, erase, truncate, swap };
constexpr int mutations = 6;

class Mutator {
 public:
  /// Changes `content` in at least one byte.
  std::string operator()(const std::string& sound) {
    for (std::string changed;;) {
      changed = sound;
      what_.clear();
      mutate(changed, static_cast<Mutation>(below(mutations)));
      if (changed != sound) return changed;
    }
  }
  const std::string& what() const { return what_; }
  std::size_t below(std::size_t bound) { return random_() % std::max<std::size_t>(bound, 1); }

 private:
  void mutate(std::string& content, Mutation mutation) {
    const std::size_t at = below(content.size());
    const std::size_t size = std::min(content.size() - at, 1 + below(16));
    switch (mutation) {
      case Mutation::flip:
        what_ = join("a bit flipped at ", at);
        content[at] = static_cast<char>(content[at] ^ (1 << below(8)));
        return;
      case Mutation::zero:
        what_ = join("64 bytes zeroed at ", at);
        std::fill_n(content.begin() + static_cast<long>(at),
                    std::min<std::size_t>(64, content.size() - at), '\0');
        return;
      case Mutation::insert:
        what_ = join("bytes inserted at ", at);
        for (std::size_t i = 0; i < size; ++i) {
          content.insert(content.begin() + static_cast<long>(at), static_cast<char>(below(256)));
        }
        return;
      case Mutation::erase:
        what_ = join(size, " bytes erased at ", at);
        content.erase(at, size);
        return;
      case Mutation::truncate:
        what_ = join("truncated at ", at);
        content.resize(at);
        return;
      case Mutation::swap: {
        const std::size_t other = below(content.size() - size + 1);
        what_ = join(size, " bytes swapped at ", at, " and ", other);
        const std::string moved = content.substr(at, size);
        content.replace(at, size, content.substr(other, size));
        content.replace(other, size, moved);
      }
    }
  }

  std::mt19937 random_{20250601};
  std::string what_;
};

class HostileMutations : public ::testing::TestWithParam<const Container*> {
 protected:
  static void overwrite(const fs::path& file, const std::string& content) {
    fs::remove(file);  // ext4 flushes a file that is truncated and written again, at every close
    OutputFile output(file);
    output.write(content);
    output.close();
  }

  // A new note counts: without its checksum the sidecar looks like one of an older version.
  bool noticed() {
    try {
      const Verification result = verify(*open_as_found(set_), 1);
      return !result.findings.empty() || result.notes.size() != notes_;
    } catch (const Error& error) {
      EXPECT_NE(std::string_view(error.what()).find(set_.string()), std::string_view::npos)
          << error.what();
      return true;
    }
  }

  // Of these alone, parts are of no meaning and have no checksum: what is free in the pages of an
  // LMDB, in a tar the zeros between and behind the members, and up to three bytes that fill a
  // record of RecordIO.
  static bool has_free_space(const fs::path& file) {
    return file.extension() == ".mdb" || file.extension() == ".tar" || file.extension() == ".rec";
  }

  void look_at_sound_set() {
    const Verification sound = verify(*open_dataset(set_), 1);
    ASSERT_TRUE(sound.findings.empty()) << sound.findings[0].place << sound.findings[0].problem;
    notes_ = sound.notes.size();
    told_ = told(set_);
    for (const auto& entry : fs::recursive_directory_iterator(set_)) {
      if (entry.is_regular_file()) files_.push_back(entry.path());
    }
    std::ranges::sort(files_);
  }

  void expect_noticed(const fs::path& file, const std::string& changed, const std::string& what) {
    const std::string sound = read_text(file);
    overwrite(file, changed);
    if (!noticed()) {
      EXPECT_TRUE(has_free_space(file)) << file.filename() << ": " << what;
      EXPECT_EQ(told(set_), told_) << file.filename() << ": " << what;
    }
    overwrite(file, sound);
  }

  void mutate_randomly() {
    look_at_sound_set();
    constexpr int rounds = 84;  // 1,008 in six formats and two datasets
    for (int round = 0; round < rounds; ++round) {
      const fs::path& file = files_[mutator_.below(files_.size())];
      const std::string changed = mutator_(read_text(file));
      expect_noticed(file, changed, mutator_.what());
    }
  }

  TempDirectory temporary_;
  fs::path set_ = temporary_ / "set";
  Mutator mutator_;
  std::vector<fs::path> files_;
  std::string told_;
  std::size_t notes_ = 0;
};

TEST_P(HostileMutations, random_damage_to_photographs_is_noticed) {
  convert_dataset(Photographs(), {}, {*GetParam(), set_, "train"},
                  {.no_boxes = !GetParam()->holds_boxes()});
  mutate_randomly();
}

TEST_P(HostileMutations, random_damage_to_digits_is_noticed) {
  write_mnist(temporary_ / "in", 20, 10, 10);
  convert_dataset(source("mnist"), std::vector{temporary_ / "in"}, {*GetParam(), set_, "train"},
                  {});
  mutate_randomly();
}

// No digest of labels and pixels covers the names of samples and classes.
TEST_P(HostileMutations, a_changed_letter_in_any_name_is_noticed) {
  convert_dataset(Photographs(), {}, {*GetParam(), set_, "train"},
                  {.no_boxes = !GetParam()->holds_boxes()});
  look_at_sound_set();
  int names = 0;
  for (const fs::path& file : files_) {
    const std::string sound = read_text(file);
    for (const std::string_view name : {"photograph_", "n03", "cat"}) {
      for (std::size_t at = sound.find(name); at != std::string::npos;
           at = sound.find(name, at + 1)) {
        std::string changed = sound;
        changed[at] = 'm';
        expect_noticed(file, changed, join("at ", at));
        ++names;
      }
    }
  }
  EXPECT_GE(names, 2) << "at least those of a class in the sidecar";
}

INSTANTIATE_TEST_SUITE_P(, HostileMutations,
                         ::testing::ValuesIn(containers().begin(), containers().end()),
                         [](const auto& parameter) {
                           std::string name(parameter.param->name());
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace feedrate::converters
