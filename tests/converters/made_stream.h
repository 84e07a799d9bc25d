#pragma once
// A stream of small grey images that can be made to fail, and what a conversion of it wrote.

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "converters/source.h"
#include "formats/base/error.h"
#include "formats/io/file.h"

namespace feedrate::testing {
using namespace formats;
using namespace converters;

/// Where a MadeStream fails, by index.
struct Faults {
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  std::uint64_t fail_at = never;   // next() throws
  std::uint64_t end_at = never;    // the stream ends, whatever size it promised
  std::uint64_t short_at = never;  // a sample lacks a byte
  std::uint64_t wide_at = never;   // a sample has another shape
  std::uint64_t bad_at = never;    // a sample has a problem()
  bool uncounted = false;          // the size is not known beforehand
};

/// `count` images of 2x2, named "made-7.png", whose pixels and label show their index.
class MadeStream final : public SampleStream {
 public:
  MadeStream(std::uint64_t count, const Faults& faults) : count_(count), faults_(faults) {
    if (!faults.uncounted) info_.size = count;
    info_.codec = &raw_codec;
    info_.classes = 10;
  }
  const StreamInfo& info() const override { return info_; }
  std::string_view problem() const override {
    return index_ == faults_.bad_at + 1 ? "made.tar:entry 7: is bad" : "";
  }
  bool next(Sample& sample) override {
    if (index_ == faults_.fail_at) throw Error("made.tar:entry 7: byte 12: the text of the source");
    if (index_ == std::min(faults_.end_at, count_)) return false;
    std::ranges::fill(pixels_, std::byte{static_cast<std::uint8_t>(index_)});
    pixels_[1] = std::byte{static_cast<std::uint8_t>(index_ >> 8)};
    Shape shape{2, 2, 1};
    if (index_ == faults_.wide_at) shape.width = 3;
    name_ = "made-" + std::to_string(index_) + ".png";
    sample = {.bytes = Bytes(pixels_).first(index_ == faults_.short_at ? 3 : shape.bytes()),
              .codec = &raw_codec,
              .shape = shape,
              .label = static_cast<std::int32_t>(index_ % 10),
              .name = name_};
    ++index_;
    return true;
  }

 private:
  std::uint64_t count_;
  Faults faults_;
  std::uint64_t index_ = 0;
  Buffer pixels_ = Buffer(6);
  std::string name_;
  StreamInfo info_;
};

inline std::unique_ptr<SampleStream> made_stream(std::uint64_t count, const Faults& faults = {}) {
  return std::make_unique<MadeStream>(count, faults);
}

/// The same stream as a source, which may be opened again and again.
class MadeSource final : public Source {
 public:
  explicit MadeSource(std::uint64_t count, const Faults& faults = {})
      : Source("made", "small grey images"), count_(count), faults_(faults) {}
  std::vector<std::string> splits(std::span<const std::filesystem::path>) const override {
    return {"train"};
  }
  std::unique_ptr<SampleStream> open(std::span<const std::filesystem::path>,
                                     std::string_view) const override {
    return made_stream(count_, faults_);
  }
  std::vector<std::filesystem::path> files(std::span<const std::filesystem::path>,
                                           std::string_view) const override {
    return {};
  }

 private:
  std::uint64_t count_;
  Faults faults_;
};

/// Every file under `directory`: relative name → content.
inline std::map<std::string, std::string> files_of(const std::filesystem::path& directory) {
  std::map<std::string, std::string> files;
  for (const auto& file : std::filesystem::recursive_directory_iterator(directory)) {
    if (file.is_regular_file()) {
      files[std::filesystem::relative(file.path(), directory).string()] = read_text(file.path());
    }
  }
  return files;
}

}  // namespace feedrate::testing
