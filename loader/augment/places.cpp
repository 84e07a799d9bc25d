// The parts that move pixels to other places: torchvision's RandomVerticalFlip and RandomRotation.

#include <algorithm>

#include "loader/augment/taking.h"
#include "loader/recipes/part.h"

namespace feedrate::loader {

namespace {

class VerticalFlip final : public Operation {
 public:
  explicit VerticalFlip(double share) : share_(share) {}
  void apply(Canvas image, Draws& draws, std::span<std::uint8_t>) const override {
    if (!draws.happens(share_)) return;
    const std::size_t row = std::size_t{image.shape.width} * image.shape.channels;
    std::uint8_t* upper = image.pixels;
    std::uint8_t* lower = image.pixels + image.shape.bytes();
    for (std::uint32_t y = 0; y < image.shape.height / 2; ++y, upper += row)
      std::swap_ranges(upper, upper + row, lower -= row);
  }

 private:
  double share_;
};

struct Turn {
  NumberRange degrees;
  double share;
  Taking taking;
  std::optional<Point> centre;
};

class Rotate final : public Operation {
 public:
  explicit Rotate(const Turn& turn) : turn_(turn) {}
  std::size_t scratch_bytes(formats::Shape shape) const override { return shape.bytes(); }
  void apply(Canvas image, Draws& draws, std::span<std::uint8_t> scratch) const override {
    if (!draws.happens(turn_.share)) return;
    // torchvision draws in 32 bits.
    const auto angle = static_cast<float>(draws.uniform(turn_.degrees.from, turn_.degrees.to));
    const Point point = turn_.centre.value_or(centre_of(image.shape));
    const Affine from = rotation(static_cast<double>(angle), point);
    if (from != rotation(0, point)) warp(image, from, scratch, turn_.taking);
  }

 private:
  Turn turn_;
};

constexpr Parameter vertical_flip_parameters[] = {{"share", Parameter::Type::number, 0, 1, {0.5}}};
const PartKind vertical_flip_row("vertical-flip", "Vertical flip of this share of the images",
                                 PartStage::pixels, vertical_flip_parameters,
                                 [](const ParameterValues& values) -> Part {
                                   return {.operation = std::make_unique<VerticalFlip>(
                                               values.number("share"))};
                                 });

constexpr Parameter rotate_parameters[] = {
    {"degrees", Parameter::Type::range, -36000, 36000, {-15, 15}},
    nearness_parameter,
    centre_x,
    centre_y,
    {"share", Parameter::Type::number, 0, 1, {1}},
    colour_value,
    colour_green,
    colour_blue,
};
const PartKind rotate_row(
    "rotate",
    "Rotation by a random angle in degrees, about the centre or x, y; a colour fills corners",
    PartStage::pixels, rotate_parameters, [](const ParameterValues& values) -> Part {
      return {.operation =
                  std::make_unique<Rotate>(Turn{values.range("degrees"), values.number("share"),
                                                taking_of(values), centre_in("rotate", values)})};
    });

}  // namespace

extern const PartKind &vertical_flip_part, &rotate_part;
const PartKind& vertical_flip_part = vertical_flip_row;
const PartKind& rotate_part = rotate_row;

}  // namespace feedrate::loader
