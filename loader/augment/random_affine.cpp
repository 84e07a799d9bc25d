#include <cmath>

#include "loader/augment/taking.h"
#include "loader/augment/warp.h"
#include "loader/recipes/part.h"

namespace feedrate::loader {

namespace {

struct Limits {
  NumberRange degrees;
  double across, down;  // shares of the width and of the height
  NumberRange scale, shear_x, shear_y;
  double share;
};

/// torchvision's RandomAffine, which draws in 32 bits.
class RandomAffine final : public Operation {
 public:
  RandomAffine(const Limits& limits, Taking taking, std::optional<Point> centre)
      : limits_(limits), taking_(taking), centre_(centre) {}
  std::size_t scratch_bytes(formats::Shape shape) const override { return shape.bytes(); }
  void apply(Canvas image, Draws& draws, std::span<std::uint8_t> scratch) const override {
    if (!draws.happens(limits_.share)) return;
    const auto drawn = [&](NumberRange range) {
      return static_cast<double>(static_cast<float>(draws.uniform(range.from, range.to)));
    };
    const auto moved = [&](double share, std::uint32_t length) {
      const double most = share * length;
      return std::nearbyint(drawn({-most, most}));
    };
    AffineChange change;
    change.degrees = drawn(limits_.degrees);
    change.across = moved(limits_.across, image.shape.width);
    change.down = moved(limits_.down, image.shape.height);
    change.scale = drawn(limits_.scale);
    change.shear_x = drawn(limits_.shear_x);
    change.shear_y = drawn(limits_.shear_y);
    warp(image, inverse_of(change, centre_.value_or(centre_of(image.shape))), scratch, taking_);
  }

 private:
  Limits limits_;
  Taking taking_;
  std::optional<Point> centre_;
};

constexpr Parameter random_affine_parameters[] = {
    {"degrees", Parameter::Type::range, -36000, 36000, {0}},
    {"across", Parameter::Type::number, 0, 1, {0}},
    {"down", Parameter::Type::number, 0, 1, {0}},
    {"scale", Parameter::Type::range, 0.001, 1000, {1}},
    {"shear-x", Parameter::Type::range, -36000, 36000, {0}},
    {"shear-y", Parameter::Type::range, -36000, 36000, {0}},
    nearness_parameter,
    centre_x,
    centre_y,
    {"share", Parameter::Type::number, 0, 1, {1}},
    colour_value,
    colour_green,
    colour_blue,
};

const PartKind random_affine_row(
    "random-affine",
    "RandomAffine: rotation, translation by shares of the sides, scaling and shear",
    PartStage::pixels, random_affine_parameters, [](const ParameterValues& values) -> Part {
      const Limits limits{values.range("degrees"), values.number("across"), values.number("down"),
                          values.range("scale"),   values.range("shear-x"), values.range("shear-y"),
                          values.number("share")};
      return {.operation = std::make_unique<RandomAffine>(limits, taking_of(values),
                                                          centre_in("random-affine", values))};
    });

}  // namespace

extern const PartKind& random_affine_part;
const PartKind& random_affine_part = random_affine_row;

}  // namespace feedrate::loader
