#include "loader/augment/rand_augment.h"

#include <cmath>
#include <numbers>

#include "loader/augment/tones.h"
#include "loader/augment/warp.h"
#include "loader/recipes/part.h"

namespace feedrate::loader {

namespace {

// torch.linspace, in its 32 bits, whose processors round a product and a sum once.
float step(const Ranges& ranges, std::uint32_t magnitude, float first, float last) {
  const std::uint32_t bins = ranges.bins;
  const float by = (last - first) / static_cast<float>(bins - 1);
  return magnitude < bins / 2 ? std::fma(by, static_cast<float>(magnitude), first)
                              : std::fma(-by, static_cast<float>(bins - 1 - magnitude), last);
}

/// torchvision's RandAugment: some of 14 changes, one after the other, each of one strength.
class RandAugment final : public Operation {
 public:
  RandAugment(std::uint32_t operations, std::uint32_t magnitude, std::uint32_t bins, Taking taking)
      : operations_(operations), magnitude_(magnitude), bins_(bins), taking_(taking) {}

  std::size_t scratch_bytes(formats::Shape shape) const override { return shape.bytes(); }

  void apply(Canvas image, Draws& draws, std::span<std::uint8_t> scratch) const override {
    for (std::uint32_t i = 0; i < operations_; ++i) {
      const auto change = static_cast<Change>(draws.below(changes));
      const bool minus = draws.below(2) == 1 && has_sign(change);
      const double size = size_of(change, usual_ranges(image.shape, bins_), magnitude_);
      change_image(change, minus ? -size : size, image, scratch, taking_);
    }
  }

 private:
  std::uint32_t operations_, magnitude_, bins_;
  Taking taking_;
};

constexpr Parameter rand_augment_parameters[] = {
    {"ops", Parameter::Type::whole, 1, 14, {2}},
    {"magnitude", Parameter::Type::whole, 0, 99, {9}},
    {"bins", Parameter::Type::whole, 2, 100, {31}},
    nearness_parameter,
    colour_value,
    colour_green,
    colour_blue,
};

const PartKind rand_augment_row(
    "rand-augment", "RandAugment: ops of 14 colour and geometric operations, at equal magnitude",
    PartStage::pixels, rand_augment_parameters, [](const ParameterValues& values) -> Part {
      const std::uint32_t magnitude = values.whole("magnitude");
      const std::uint32_t bins = values.whole("bins");
      if (magnitude >= bins) {
        throw formats::Error(
            formats::join("recipe rand-augment, magnitude: expected less than the ", bins,
                          " bins, found ", magnitude));
      }
      return {.operation = std::make_unique<RandAugment>(values.whole("ops"), magnitude, bins,
                                                         taking_of(values))};
    });

}  // namespace

Ranges usual_ranges(formats::Shape shape, std::uint32_t bins) {
  const auto share = [](std::uint32_t side) { return static_cast<float>(150.0 / 331.0 * side); };
  return {0.3F, share(shape.width), share(shape.height), 30, 0.9F, 4, bins};
}

Ranges wide_ranges(std::uint32_t bins) { return {0.99F, 32, 32, 135, 0.99F, 6, bins}; }

double size_of(Change change, const Ranges& ranges, std::uint32_t magnitude) {
  const auto up_to = [&](float last) { return step(ranges, magnitude, 0, last); };
  switch (change) {
    case Change::shear_x:
    case Change::shear_y:
      return up_to(ranges.shear);
    case Change::translate_x:
      return up_to(ranges.across);
    case Change::translate_y:
      return up_to(ranges.down);
    case Change::rotate:
      return up_to(ranges.degrees);
    case Change::brightness:
    case Change::colour:
    case Change::contrast:
    case Change::sharpness:
      return up_to(ranges.tone);
    case Change::posterize:
      return 8 - std::nearbyint(static_cast<float>(magnitude) /
                                static_cast<float>((ranges.bins - 1) / ranges.bits));
    case Change::solarize:
      return step(ranges, magnitude, 255, 0);
    default:
      return 0;
  }
}

void change_image(Change change, double size, Canvas image, std::span<std::uint8_t> scratch,
                  Taking taking) {
  const auto factor = static_cast<float>(1.0 + size);
  const auto pixels = static_cast<double>(static_cast<int>(size));
  // torchvision takes the angle of a slope.
  const auto angle = [size] { return std::atan(size) * (180.0 / std::numbers::pi); };
  const auto moved = [&](const AffineChange& by, Point centre) {
    warp(image, inverse_of(by, centre), scratch, taking);
  };
  switch (change) {
    case Change::identity:
      return;
    case Change::shear_x:
      return moved({.shear_x = angle()}, {0, 0});
    case Change::shear_y:
      return moved({.shear_y = angle()}, {0, 0});
    case Change::translate_x:
      return moved({.across = pixels}, centre_of(image.shape));
    case Change::translate_y:
      return moved({.down = pixels}, centre_of(image.shape));
    case Change::rotate:
      return warp(image, rotation(size, centre_of(image.shape)), scratch, taking);
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
    case Change::invert:
      return solarize(image, 0);
  }
}

extern const PartKind& rand_augment_part;
const PartKind& rand_augment_part = rand_augment_row;

}  // namespace feedrate::loader
