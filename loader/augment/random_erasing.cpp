#include <algorithm>
#include <array>
#include <cmath>

#include "loader/augment/colour.h"
#include "loader/recipes/part.h"

namespace feedrate::loader {

namespace {

constexpr int tries = 10;

/// torchvision's RandomErasing: a rectangle of one colour, of which a grey image takes the first value.
class RandomErasing final : public Operation {
 public:
  RandomErasing(double share, NumberRange scale, NumberRange ratio, Colour colour)
      : share_(share),
        scale_(scale),
        log_ratio_{logarithm(ratio.from), logarithm(ratio.to)},
        colour_(colour) {}

  void apply(Canvas image, Draws& draws, std::span<std::uint8_t>) const override {
    if (!draws.happens(share_)) return;
    const double area = static_cast<double>(image.shape.height) * image.shape.width;
    for (int attempt = 0; attempt < tries; ++attempt) {
      const double wanted = area * draws.uniform(scale_.from, scale_.to);
      const double ratio = exponential(draws.uniform(log_ratio_.from, log_ratio_.to));
      const auto height = static_cast<std::uint32_t>(std::nearbyint(std::sqrt(wanted * ratio)));
      const auto width = static_cast<std::uint32_t>(std::nearbyint(std::sqrt(wanted / ratio)));
      if (height >= image.shape.height || width >= image.shape.width) continue;
      const std::uint32_t y = draws.below(image.shape.height - height + 1);
      const std::uint32_t x = draws.below(image.shape.width - width + 1);
      erase(image, {y, x, height, width});
      return;
    }
  }

 private:
  void erase(Canvas image, const formats::Rect& rect) const {
    const std::size_t channels = image.shape.channels;
    if (rect.height == 0) return;
    std::uint8_t* const first = image.pixels + (rect.y * image.shape.width + rect.x) * channels;
    for (std::uint8_t* at = first; at != first + rect.width * channels;) {
      at = std::copy_n(colour_.begin(), channels, at);
    }
    const std::size_t row = image.shape.width * channels;
    for (std::size_t y = 1; y < rect.height; ++y) {
      std::copy_n(first, rect.width * channels, first + y * row);
    }
  }

  double share_;
  NumberRange scale_, log_ratio_;
  Colour colour_;
};

constexpr Parameter random_erasing_parameters[] = {
    {"share", Parameter::Type::number, 0, 1, {0.5}},
    {"scale", Parameter::Type::range, 1e-6, 1, {0.02, 0.33}},
    {"ratio", Parameter::Type::range, 0.01, 100, {0.3, 3.3}},
    colour_value,
    colour_green,
    colour_blue,
};

const PartKind random_erasing_row(
    "random-erasing", "Random erasing: a rectangle of one colour, in this share of the images",
    PartStage::pixels, random_erasing_parameters, [](const ParameterValues& values) -> Part {
      return {.operation =
                  std::make_unique<RandomErasing>(values.number("share"), values.range("scale"),
                                                  values.range("ratio"), colour_of(values))};
    });

}  // namespace

extern const PartKind& random_erasing_part;
const PartKind& random_erasing_part = random_erasing_row;

}  // namespace feedrate::loader
