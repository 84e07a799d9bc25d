#include <algorithm>

#include "converters/archive.h"
#include "converters/imagenet/image_entries.h"
#include "converters/imagenet/imagenet_streams.h"
#include "converters/pipeline/trail.h"
#include "formats/base/error.h"
#include "formats/base/text.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t max_held = std::uint64_t{512} << 20;

struct ValImage {
  std::string name;
  std::size_t number = 0;  // 1 …, as in the name
  Bytes bytes;             // a view of the tar, or of held_
  std::string place;
};

// The number in the name of a validation image; 0 for any other name.
std::size_t number_in(std::string_view name) {
  constexpr std::size_t first_digit = 15, digits = 8;
  if (!is_val_image(name)) return 0;
  return parse_number<std::size_t>(name.substr(first_digit, digits)).value_or(0);
}

class ValStream final : public SampleStream {
 public:
  ValStream(const std::vector<fs::path>& tars, ImagenetExtras extras)
      : extras_(std::move(extras)), info_(imagenet_info(extras_)) {
    for (const fs::path& tar : tars) collect(tar);
    std::ranges::sort(images_, {}, &ValImage::number);
    const auto twice = std::ranges::adjacent_find(images_, {}, &ValImage::number);
    if (twice != images_.end()) {
      fail((twice + 1)->place, "this image appears twice; it was also in ", twice->place);
    }
    info_.size = images_.size();
    for (const ValImage& image : images_) {
      ++tally_.images;
      tally_.without_boxes += boxes_of(image).empty() ? 1 : 0;
    }
    tally_.add_notes(info_, extras_);
  }

  const StreamInfo& info() const override { return info_; }
  bool lasting() const override { return true; }

  bool next(Sample& sample) override {
    if (next_ == images_.size()) return false;
    const ValImage& image = images_[next_++];
    sample = Sample{};
    sample.bytes = image.bytes;
    sample.label = extras_.devkit->val_labels[image.number - 1];
    sample.name = image.name;
    sample.boxes = boxes_of(image);
    problem_ = image.bytes.empty() ? empty_image : "";
    trail_.pass(image.bytes);
    while (const auto bytes = trail_.take_far_behind()) give_back(*bytes);
    return true;
  }

  std::string_view problem() const override { return problem_; }
  bool seekable() const override { return true; }
  void seek(std::uint64_t index) override {
    next_ = std::min<std::uint64_t>(index, images_.size());
  }
  void give_back(Bytes bytes) override {
    for (const auto& archive : archives_) archive->give_back(bytes);
  }

 private:
  void collect(const fs::path& tar) {
    archives_.push_back(std::make_unique<Archive>(tar));
    Archive& archive = *archives_.back();
    ImageEntries entries(archive, tally_.clutter);
    while (entries.next()) {
      ValImage image{std::string(entries.name()), number_in(entries.name()), {}, entries.place()};
      if (image.number < 1 || image.number > extras_.devkit->val_labels.size()) {
        fail(image.place,
             "expected one of ILSVRC2012_val_00000001.JPEG to "
             "ILSVRC2012_val_00050000.JPEG");
      }
      Buffer storage;
      image.bytes = entries.bytes(storage);
      if (!image.bytes.empty() && image.bytes.data() == storage.data())
        hold(tar, std::move(storage), image);
      images_.push_back(std::move(image));
    }
  }

  // Images of a compressed tar can only be read in its own order, which is not that of their names.
  void hold(const fs::path& tar, Buffer storage, ValImage& image) {
    held_bytes_ += storage.size();
    if (held_bytes_ > max_held) {
      fail(tar, "is compressed, and its images exceed the ", max_held >> 20,
           " MiB that may be held in memory to sort them by name; decompress it");
    }
    held_.push_back(std::move(storage));
    image.bytes = held_.back();
  }

  std::span<const Box> boxes_of(const ValImage& image) const {
    return extras_.boxes ? extras_.boxes->of(image.name) : std::span<const Box>();
  }

  ImagenetExtras extras_;
  StreamInfo info_;
  std::vector<std::unique_ptr<Archive>> archives_;
  std::vector<Buffer> held_;
  std::uint64_t held_bytes_ = 0;
  std::vector<ValImage> images_;
  std::size_t next_ = 0;
  std::string_view problem_;
  Trail trail_;  // reading jumps back and forth in the tar
  ImagenetTally tally_;
};

}  // namespace

std::unique_ptr<SampleStream> open_imagenet_val(std::vector<fs::path> tars, ImagenetExtras extras) {
  return std::make_unique<ValStream>(tars, std::move(extras));
}

}  // namespace feedrate::converters
