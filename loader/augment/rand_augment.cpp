#include "loader/augment/rand_augment.h"

#include <cmath>

#include "loader/augment/tones.h"
#include "loader/augment/warp.h"
#include "loader/recipes/part.h"

namespace feedrate::loader {

namespace {

constexpr bool has_sign(Change change) {
  return change >= Change::shear_x && change <= Change::sharpness;
}

// torch.linspace, in its 32 bits.
float step(Strength strength, float first, float last) {
  const auto [magnitude, bins, minus] = strength;
  const float by = (last - first) / static_cast<float>(bins - 1);
  return magnitude < bins / 2 ? first + by * static_cast<float>(magnitude)
                              : last - by * static_cast<float>(bins - 1 - magnitude);
}

double size_of(Change change, Strength strength, formats::Shape shape) {
  switch (change) {
    case Change::shear_x:
    case Change::shear_y:
      return step(strength, 0, 0.3F);
    case Change::translate_x:
      return step(strength, 0, static_cast<float>(150.0 / 331.0 * shape.width));
    case Change::translate_y:
      return step(strength, 0, static_cast<float>(150.0 / 331.0 * shape.height));
    case Change::rotate:
      return step(strength, 0, 30);
    case Change::brightness:
    case Change::colour:
    case Change::contrast:
    case Change::sharpness:
      return step(strength, 0, 0.9F);
    case Change::posterize:
      return 8 - std::nearbyint(static_cast<float>(strength.magnitude) /
                                static_cast<float>((strength.bins - 1) / 4.0));
    case Change::solarize:
      return step(strength, 255, 0);
    default:
      return 0;
  }
}

/// torchvision's RandAugment: some of 14 changes, one after the other, each of one strength.
class RandAugment final : public Operation {
 public:
  RandAugment(std::uint32_t operations, std::uint32_t magnitude, std::uint32_t bins)
      : operations_(operations), magnitude_(magnitude), bins_(bins) {}

  std::size_t scratch_bytes(formats::Shape shape) const override { return shape.bytes(); }

  void apply(Canvas image, Draws& draws, std::span<std::uint8_t> scratch) const override {
    for (std::uint32_t i = 0; i < operations_; ++i) {
      const auto change = static_cast<Change>(draws.below(changes));
      const bool minus = draws.below(2) == 1;
      change_image(change, {magnitude_, bins_, minus}, image, scratch);
    }
  }

 private:
  std::uint32_t operations_, magnitude_, bins_;
};

constexpr Parameter rand_augment_parameters[] = {
    {"ops", Parameter::Type::whole, 1, 14, {2}},
    {"magnitude", Parameter::Type::whole, 0, 99, {9}},
    {"bins", Parameter::Type::whole, 2, 100, {31}},
};

const PartKind rand_augment_row(
    "rand-augment", "Some of 14 changes of colour and place, each as strong", PartStage::pixels,
    rand_augment_parameters, [](const ParameterValues& values) -> Part {
      const std::uint32_t magnitude = values.whole("magnitude");
      const std::uint32_t bins = values.whole("bins");
      if (magnitude >= bins) {
        throw formats::Error(
            formats::join("recipe rand-augment, magnitude: expected less than the ", bins,
                          " bins, found ", magnitude));
      }
      return {.operation = std::make_unique<RandAugment>(values.whole("ops"), magnitude, bins)};
    });

}  // namespace

void change_image(Change change, Strength strength, Canvas image, std::span<std::uint8_t> scratch) {
  const double unsigned_size = size_of(change, strength, image.shape);
  const double size = has_sign(change) && strength.minus ? -unsigned_size : unsigned_size;
  const auto factor = static_cast<float>(1.0 + size);
  const auto pixels = static_cast<double>(static_cast<int>(size));
  switch (change) {
    case Change::identity:
      return;
    case Change::shear_x:
      return warp(image, {1, size, 0, 0, 1, 0}, scratch);
    case Change::shear_y:
      return warp(image, {1, 0, 0, size, 1, 0}, scratch);
    case Change::translate_x:
      return warp(image, {1, 0, -pixels, 0, 1, 0}, scratch);
    case Change::translate_y:
      return warp(image, {1, 0, 0, 0, 1, -pixels}, scratch);
    case Change::rotate:
      return warp(image, rotation(size, centre_of(image.shape)), scratch);
    case Change::brightness:
      return adjust_brightness(image, factor);
    case Change::colour:
      return adjust_saturation(image, factor);
    case Change::contrast:
      return adjust_contrast(image, factor);
    case Change::sharpness:
      return adjust_sharpness(image, factor, scratch);
    case Change::posterize:
      return posterize(image, static_cast<int>(size));
    case Change::solarize:
      return solarize(image, size);
    case Change::autocontrast:
      return autocontrast(image);
    case Change::equalize:
      return equalize(image);
  }
}

extern const PartKind& rand_augment_part;
const PartKind& rand_augment_part = rand_augment_row;

}  // namespace feedrate::loader
