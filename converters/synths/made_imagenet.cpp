#include "converters/synths/made_imagenet.h"

#include <algorithm>
#include <numeric>

#include "converters/imagenet/devkit.h"
#include "converters/synths/made_folder.h"
#include "converters/synths/scenes.h"
#include "formats/base/error.h"
#include "formats/base/imagenet_classes.h"
#include "formats/codec.h"

namespace feedrate::converters {
using namespace formats;

namespace {

// Mostly landscape, 500 wide; some portrait, some of any size, a few large.
Shape any_shape(Draws& draws) {
  const std::uint32_t kind = draws.below(100);
  if (kind < 60) return {333 + draws.below(43), 500, 3};
  if (kind < 80) return {500, 333 + draws.below(43), 3};
  if (kind < 98) return {120 + draws.below(400), 140 + draws.below(460), 3};
  return {900 + draws.below(300), 1200 + draws.below(400), 3};
}

Buffer draw_jpeg(unsigned label, Shape shape, Draws& draws) {
  Image image{shape, {}};
  image.pixels.resize(shape.bytes());
  const int quality = static_cast<int>(87 + draws.below(10));
  draw_scene(look_of(label), draws, shape, image.pixels);
  Buffer jpeg;
  jpeg_codec.encode(image, quality, jpeg);
  return jpeg;
}

// The class of ILSVRC2012_val_00000001, by which 'feedrate verify' knows how labels are counted.
constexpr std::int32_t published_label_of_first = 65;

}  // namespace

Buffer draw_photograph(unsigned label, Draws draws) {
  const Shape shape = any_shape(draws);
  return draw_jpeg(label, shape, draws);
}

Buffer draw_photograph(unsigned label, Shape shape, Draws draws) {
  return draw_jpeg(label, shape, draws);
}

MadeImagenet::MadeImagenet(MadeImages& images) : images_(images) {
  const std::uint64_t train = images.count(MadeSplit::train), val = images.count(MadeSplit::test);
  const unsigned classes = made_classes(images, imagenet_classes);
  for (unsigned i = 0; i < classes; ++i) {
    train_classes_.push_back({.label = static_cast<unsigned>(i * imagenet_classes / classes),
                              .first = train * i / classes,
                              .last = train * (i + 1) / classes});
  }
  for (std::uint64_t i = 0; i < imagenet_val_images; ++i) {
    const std::uint64_t any = below(random_bits(images.seed(), i), classes);
    val_labels_.push_back(static_cast<std::int32_t>(any * imagenet_classes / classes));
  }
  if (val == imagenet_val_images) val_labels_.front() = published_label_of_first;
  val_numbers_.resize(val);
  // The first is made with all others alone: its class may have no images to train on.
  std::iota(val_numbers_.begin(), val_numbers_.end(), val < imagenet_val_images ? 2 : 1);
  std::ranges::sort(val_numbers_, {},
                    [&](std::uint64_t n) { return random_bits(images.seed(), n); });
}

std::string MadeImagenet::val_name(std::uint64_t number) {
  return join("ILSVRC2012_val_", std::to_string(100'000'000 + number).substr(1));
}

void MadeImagenet::make_train(const Class& one, const MadeImages::Take& take) {
  images_.make(
      MadeSplit::train, one.first, one.last,
      [&](std::uint64_t, Draws draws) { return draw_photograph(one.label, draws); }, take);
}

void MadeImagenet::make_val(const std::vector<std::uint64_t>& numbers,
                            const MadeImages::Take& take) {
  // An image's draws are those of its place in the published tar.
  std::vector<std::uint64_t> places(imagenet_val_images + 1);
  for (std::uint64_t i = 0; i < val_numbers_.size(); ++i) places[val_numbers_[i]] = i;
  images_.make(
      MadeSplit::test, 0, numbers.size(),
      [&](std::uint64_t i, Draws) {
        const std::uint64_t number = numbers[i];
        return draw_photograph(static_cast<unsigned>(val_labels_[number - 1]),
                               images_.draws(MadeSplit::test, places[number]));
      },
      take);
}

}  // namespace feedrate::converters
