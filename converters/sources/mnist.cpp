#include <algorithm>
#include <array>

#include "converters/source.h"
#include "converters/sources/idx.h"
#include "converters/sources/mnist_files.h"
#include "formats/base/error.h"

namespace feedrate::converters {
using namespace formats;

namespace {

// Every set in MNIST's packaging has at least ten classes. EMNIST's labels show how many; its
// `letters` count from 1, so class 0 is empty there.
constexpr std::uint32_t min_classes = 10;

class MnistStream final : public SampleStream {
 public:
  explicit MnistStream(const IdxPair& pair)
      : images_(pair.images), header_(read_idx_header(images_.data(), IdxKind::images)) {
    OpenPart labels(pair.labels);
    const IdxHeader label_header = read_idx_header(labels.data(), IdxKind::labels);
    if (label_header.count != header_.count) {
      fail(pair.images.place(), "holds ", header_.count, " images, but ", pair.labels.place(),
           " holds ", label_header.count, " labels");
    }
    labels_ = read_idx_labels(labels.data(), label_header);
    pixels_.resize(header_.shape.bytes());
    info_.size = header_.count;
    info_.shape = header_.shape;
    info_.codec = &raw_codec;
    info_.classes = std::max(min_classes, *std::ranges::max_element(labels_) + std::uint32_t{1});
  }

  const StreamInfo& info() const override { return info_; }

  bool next(Sample& sample) override {
    if (index_ == header_.count) {
      expect_idx_end(images_.data(), header_);
      return false;
    }
    read_idx_image(images_.data(), header_, index_, pixels_);
    sample = Sample{.bytes = pixels_,
                    .codec = &raw_codec,
                    .shape = header_.shape,
                    .label = labels_[index_],
                    .name = {}};
    ++index_;
    return true;
  }

 private:
  OpenPart images_;
  IdxHeader header_;
  std::vector<std::uint8_t> labels_;  // small compared with the images: all read first
  Buffer pixels_;
  std::uint64_t index_ = 0;
  StreamInfo info_;
};

class Mnist final : public Source {
 public:
  Mnist()
      : Source("mnist",
               "MNIST's IDX files, also Fashion-, K- and EMNIST: directory, tar, zip or files") {}

  std::vector<std::string> splits(std::span<const std::filesystem::path>) const override {
    return {"train", "test"};
  }

  std::unique_ptr<SampleStream> open(std::span<const std::filesystem::path> inputs,
                                     std::string_view split) const override {
    return std::make_unique<MnistStream>(find_idx_pair(inputs, split));
  }

  std::vector<std::filesystem::path> files(std::span<const std::filesystem::path> inputs,
                                           std::string_view split) const override {
    const IdxPair pair = find_idx_pair(inputs, split);
    if (pair.images.file == pair.labels.file) return {pair.images.file};
    return {pair.images.file, pair.labels.file};
  }
};

const Mnist row;

}  // namespace

const Source& mnist_source = row;

}  // namespace feedrate::converters
