#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "converters/archive.h"
#include "converters/imagenet/image_entries.h"
#include "converters/imagenet/imagenet_streams.h"
#include "formats/base/clutter.h"
#include "formats/base/error.h"
#include "formats/base/imagenet_classes.h"
#include "formats/io/byte_stream.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;

// A tar of the published size holds the published number of images: they need not be counted.
constexpr std::uint64_t published_bytes = 147'897'477'120;
constexpr std::uint64_t published_images = 1'281'167;

bool can_be_viewed(const TrainTar& tar) { return open_file_stream(tar.file)->whole().has_value(); }

// Keeps texts in blocks of memory, where they stay valid.
class Names {
 public:
  std::string_view keep(std::string_view text) {
    constexpr std::size_t block = std::size_t{64} << 10;
    if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < text.size()) {
      blocks_.emplace_back().reserve(std::max(block, text.size()));
    }
    std::string& last = blocks_.back();
    last += text;
    return std::string_view(last).substr(last.size() - text.size());
  }
  void clear() { blocks_.clear(); }

 private:
  std::deque<std::string> blocks_;
};

struct OpenTar {
  std::unique_ptr<Archive> archive;
  std::uint64_t end = 0;  // bytes of all tars up to its end
};

class TrainStream final : public SampleStream {
 public:
  TrainStream(std::vector<TrainTar> tars, ImagenetExtras extras)
      : tars_(std::move(tars)),
        extras_(std::move(extras)),
        info_(imagenet_info(extras_)),
        lasting_(std::ranges::all_of(tars_, can_be_viewed)) {
    const bool published = tars_.size() == 1 && fs::is_regular_file(tars_[0].file) &&
                           fs::file_size(tars_[0].file) == published_bytes;
    if (published) info_.size = published_images;
  }

  const StreamInfo& info() const override { return info_; }
  bool lasting() const override { return lasting_; }
  std::string_view problem() const override { return problem_; }
  void give_back(Bytes bytes) override {
    for (const OpenTar& tar : open_) tar.archive->give_back(bytes);
  }

  bool next(Sample& sample) override {
    while (!images_ || !images_->next()) {
      if (!next_class()) {
        if (!std::exchange(ended_, true)) tally_.add_notes(info_, extras_);
        return false;
      }
    }
    const Bytes bytes = images_->bytes(storage_);
    if (lasting_ && !bytes.empty() && bytes.data() == storage_.data()) {
      fail(images_->place(), "is compressed inside a tar that is not; decompress the class's tar");
    }
    if (!lasting_) names_.clear();
    problem_ = bytes.empty() ? empty_image : "";
    sample = Sample{};
    sample.bytes = bytes;
    sample.label = label_;
    sample.name = names_.keep(join(wnid_, "/", images_->name()));
    if (extras_.boxes) sample.boxes = extras_.boxes->of(sample.name);
    ++tally_.images;
    tally_.without_boxes += sample.boxes.empty() ? 1 : 0;
    return true;
  }

 private:
  bool next_class() {
    if (images_ && tally_.images == images_before_) tally_.empty_classes.push_back(wnid_);
    images_before_ = tally_.images;
    images_.reset();
    class_tar_.reset();
    while (!next_in_outer()) {
      if (next_tar_ == tars_.size()) return false;
      open(tars_[next_tar_++]);
      if (images_) return true;
    }
    return true;
  }

  // Moves to the next class in a tar of classes; false if there is none left, or no such tar.
  bool next_in_outer() {
    while (outer_ != nullptr) {
      const bool more = outer_->next();
      expect_no_links(*outer_);
      if (!more) break;
      const std::string_view name = base_name(outer_->name());
      if (is_clutter(name) || is_about(name)) {
        ++tally_.clutter;
        continue;
      }
      if (!name.ends_with(".tar")) {
        fail(outer_->place(), "expected the tar of a class, like n01440764.tar");
      }
      begin_class(name.substr(0, name.size() - 4), outer_->place());
      class_tar_ = std::make_unique<Archive>(*outer_);
      images_.emplace(*class_tar_, tally_.clutter);
      return true;
    }
    outer_ = nullptr;
    return false;
  }

  void open(const TrainTar& tar) {
    give_back_behind();
    bytes_opened_ += fs::file_size(tar.file);
    open_.push_back({std::make_unique<Archive>(tar.file), bytes_opened_});
    Archive& archive = *open_.back().archive;
    if (tar.wnid.empty()) {
      outer_ = &archive;
    } else {
      begin_class(tar.wnid, tar.file.string());
      images_.emplace(archive, tally_.clutter);
    }
  }

  // Samples that last need their tars open, but not in memory. A tar releases memory far behind its
  // reader; this releases the rest of tars that were finished long ago.
  void give_back_behind() {
    if (!lasting_) return open_.clear();
    constexpr std::uint64_t kept = std::uint64_t{128} << 20;
    for (; given_back_ < open_.size(); ++given_back_) {
      if (open_[given_back_].end + kept > bytes_opened_) break;
      open_[given_back_].archive->give_back();
    }
  }

  void begin_class(std::string_view wnid, const std::string& place) {
    const auto label = imagenet_label(wnid);
    if (!label) fail(place, "ILSVRC2012 has no class ", wnid);
    const auto [first, is_new] = places_.try_emplace(*label, place);
    if (!is_new) fail(place, "the class ", wnid, " appears twice; it was also in ", first->second);
    label_ = *label;
    wnid_ = wnid;
  }

  std::vector<TrainTar> tars_;
  ImagenetExtras extras_;
  StreamInfo info_;
  bool lasting_;
  std::size_t next_tar_ = 0;
  std::vector<OpenTar> open_;           // the last one is being read
  std::uint64_t bytes_opened_ = 0;      // in all of open_
  std::size_t given_back_ = 0;          // tars at the front of open_
  Archive* outer_ = nullptr;            // the last one, if it is a tar of classes
  std::unique_ptr<Archive> class_tar_;  // inside it
  std::optional<ImageEntries> images_;
  std::map<std::int32_t, std::string> places_;  // label → place of each class so far
  std::int32_t label_ = 0;
  std::string wnid_;
  std::uint64_t images_before_ = 0;  // this class
  std::string_view problem_;
  Names names_;
  Buffer storage_;
  ImagenetTally tally_;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<SampleStream> open_imagenet_train(std::vector<TrainTar> tars,
                                                  ImagenetExtras extras) {
  return std::make_unique<TrainStream>(std::move(tars), std::move(extras));
}

}  // namespace feedrate::converters
