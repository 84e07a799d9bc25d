#include <algorithm>
#include <array>

#include "converters/downloads/fetch.h"
#include "converters/source.h"
#include "converters/sources/idx.h"
#include "converters/sources/mnist_files.h"
#include "formats/base/error.h"
#include "formats/digests/digest.h"

namespace feedrate::converters {
using namespace formats;

namespace {

// Every set in MNIST's packaging has at least ten classes. EMNIST's labels show how many; its
// `letters` count from 1, so class 0 is empty there.
constexpr std::uint32_t min_classes = 10;

constexpr std::string_view fashion_mnist = "fashion-mnist";
constexpr std::array fashion_classes{"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                                     "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};

// The files of Fashion-MNIST are called as MNIST's are. The hash of the labels tells it, which is
// that of the published file however it is compressed.
bool is_fashion_mnist(const std::vector<std::uint8_t>& labels) {
  const auto count = static_cast<std::uint32_t>(labels.size());
  std::array<std::uint8_t, 8> header{0, 0, 8, 1};  // of an IDX file of labels
  for (unsigned i = 0; i < 4; ++i) {
    header[4 + i] = static_cast<std::uint8_t>(count >> (24 - 8 * i));
  }
  Hasher hasher;
  hasher.add(std::as_bytes(std::span(header)));
  hasher.add(std::as_bytes(std::span(labels)));
  const std::string hash = hex(hasher.finish());
  return std::ranges::any_of(published_set(fashion_mnist).files(), [&](const PublishedFile& file) {
    return file.content_sha256 == hash;
  });
}

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
    if (!is_fashion_mnist(labels_)) return;
    info_.origin = fashion_mnist;
    info_.class_names.names.assign(fashion_classes.begin(), fashion_classes.end());
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

const Mnist mnist_row;

}  // namespace

const Source& mnist_source = mnist_row;

}  // namespace feedrate::converters
