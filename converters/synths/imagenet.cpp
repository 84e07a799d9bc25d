#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "converters/imagenet/devkit.h"
#include "converters/imagenet/imagenet_classes.h"
#include "converters/synths/made_images.h"
#include "converters/synths/scenes.h"
#include "formats/base/error.h"
#include "formats/codec.h"
#include "formats/io/file.h"
#include "formats/io/gzip.h"
#include "formats/io/tar_writer.h"

namespace feedrate::converters {
using namespace formats;

namespace {

// Writes ILSVRC2012_devkit_t12.tar.gz with `val_labels` as the ground truth of the validation
// images. It has no meta.mat: the classes are those of ILSVRC2012.
void write_devkit(const std::filesystem::path& file, std::span<const std::int32_t> val_labels) {
  std::string ground_truth;
  for (const std::int32_t label : val_labels) {
    ground_truth += join(imagenet_id_of_label(label), '\n');
  }
  GzipFile gzip(file);
  TarWriter tar(gzip);
  const std::string folder = "ILSVRC2012_devkit_t12/";
  tar.add(folder + "readme.txt",
          as_bytes("Made by feedrate synth: drawings in the packaging of ILSVRC2012.\n"));
  tar.add(folder + "data/ILSVRC2012_validation_ground_truth.txt", as_bytes(ground_truth));
  tar.finish();
  gzip.close();
}

// Mostly landscape, 500 wide; some portrait, some of any size, a few large.
Shape any_shape(Draws& draws) {
  const std::uint32_t kind = draws.below(100);
  if (kind < 60) return {333 + draws.below(43), 500, 3};
  if (kind < 80) return {500, 333 + draws.below(43), 3};
  if (kind < 98) return {120 + draws.below(400), 140 + draws.below(460), 3};
  return {900 + draws.below(300), 1200 + draws.below(400), 3};
}

Buffer draw_photograph(unsigned label, Draws draws) {
  Image image{any_shape(draws), {}};
  image.pixels.resize(image.shape.bytes());
  const int quality = static_cast<int>(87 + draws.below(10));
  draw_scene(look_of(label), draws, image.shape, image.pixels);
  Buffer jpeg;
  jpeg_codec.encode(image, quality, jpeg);
  return jpeg;
}

// The labels of the made images.
struct MadeLabels {
  std::vector<std::uint64_t> train_images;  // by label: how many images the class has
  std::vector<std::int32_t> val;            // the label of each of the 50,000 validation images
};

// The class of ILSVRC2012_val_00000001, by which 'feedrate verify' knows how labels are counted.
constexpr std::int32_t published_label_of_first = 65;

// Spreads classes of about 50 training images evenly over the thousand labels.
MadeLabels spread_labels(const MadeImages& images) {
  constexpr std::uint64_t images_per_class = 50;
  const std::uint64_t train = images.count(MadeSplit::train);
  const auto classes = std::clamp<std::uint64_t>(
      train / images_per_class, std::min<std::uint64_t>(train, 2), imagenet_classes);
  MadeLabels labels{std::vector<std::uint64_t>(imagenet_classes), {}};
  for (std::uint64_t i = 0; i < classes; ++i) {
    labels.train_images[i * imagenet_classes / classes] =
        train * (i + 1) / classes - train * i / classes;
  }
  for (std::uint64_t i = 0; i < imagenet_val_images; ++i) {
    const std::uint64_t any =
        below(random_bits(images.seed(), i), static_cast<std::uint32_t>(classes));
    labels.val.push_back(static_cast<std::int32_t>(any * imagenet_classes / classes));
  }
  if (images.count(MadeSplit::test) == imagenet_val_images)
    labels.val.front() = published_label_of_first;
  return labels;
}

struct BufferSink {
  Buffer bytes;
  void write(Bytes more) { append(bytes, more); }
};

// A tar that holds a tar for each class.
void make_train(const std::filesystem::path& path, const MadeLabels& labels, MadeImages& images) {
  OutputFile file(path);
  TarWriter tar(file);
  std::uint64_t first = 0;
  for (unsigned label = 0; label < imagenet_classes; ++label) {
    const std::uint64_t last = first + labels.train_images[label];
    if (first == last) continue;
    const std::string& wnid = imagenet_wnids()[label];
    BufferSink sink;
    TarWriter class_tar(sink);
    images.make(
        MadeSplit::train, first, last,
        [&](std::uint64_t, Draws draws) { return draw_photograph(label, draws); },
        [&](std::uint64_t i, Bytes jpeg) { class_tar.add(join(wnid, "_", i, ".JPEG"), jpeg); });
    class_tar.finish();
    tar.add(wnid + ".tar", sink.bytes);
    first = last;
  }
  tar.finish();
  file.close();
}

// In random order, like the published tar.
void make_val(const std::filesystem::path& path, const MadeLabels& labels, MadeImages& images) {
  OutputFile file(path);
  TarWriter tar(file);
  std::vector<std::uint64_t> numbers(images.count(MadeSplit::test));
  // The first is made with all others alone: its class may have no images to train on.
  std::iota(numbers.begin(), numbers.end(), numbers.size() < imagenet_val_images ? 2 : 1);
  std::ranges::sort(numbers, {}, [&](std::uint64_t n) { return random_bits(images.seed(), n); });
  images.make(
      MadeSplit::test, 0, numbers.size(),
      [&](std::uint64_t i, Draws draws) {
        return draw_photograph(static_cast<unsigned>(labels.val[numbers[i] - 1]), draws);
      },
      [&](std::uint64_t i, Bytes jpeg) {
        const std::string digits = std::to_string(100'000'000 + numbers[i]).substr(1);
        tar.add(join("ILSVRC2012_val_", digits, ".JPEG"), jpeg);
      });
  tar.finish();
  file.close();
}

void make_imagenet(const std::filesystem::path& directory, MadeImages& images) {
  const MadeLabels labels = spread_labels(images);
  make_train(directory / "ILSVRC2012_img_train.tar", labels, images);
  make_val(directory / "ILSVRC2012_img_val.tar", labels, images);
  write_devkit(directory / "ILSVRC2012_devkit_t12.tar.gz", labels.val);
}

// The devkit labels 50,000 validation images: 1,300,000 / 26.
const Synth imagenet_row("imagenet",
                         "drawn scenes in ILSVRC2012's tars and devkit: N to train, N/26 to val",
                         {1, 1'300'000, 26}, make_imagenet);

}  // namespace

const Synth& imagenet_synth = imagenet_row;

}  // namespace feedrate::converters
