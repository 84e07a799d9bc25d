#include <algorithm>
#include <cmath>

#include "loader/recipes/part.h"

namespace feedrate::loader {

namespace {

constexpr int tries = 10;

/// torchvision's RandomErasing: a rectangle of one grey, 0 to 255.
class RandomErasing final : public Operation {
 public:
  RandomErasing(double share, NumberRange scale, NumberRange ratio, std::uint8_t value)
      : share_(share),
        scale_(scale),
        log_ratio_{logarithm(ratio.from), logarithm(ratio.to)},
        value_(value) {}

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
    for (std::size_t y = rect.y; y < rect.y + rect.height; ++y)
      std::fill_n(image.pixels + (y * image.shape.width + rect.x) * channels, rect.width * channels,
                  value_);
  }

  double share_;
  NumberRange scale_, log_ratio_;
  std::uint8_t value_;
};

constexpr Parameter random_erasing_parameters[] = {
    {"share", Parameter::Type::number, 0, 1, {0.5}},
    {"scale", Parameter::Type::range, 1e-6, 1, {0.02, 0.33}},
    {"ratio", Parameter::Type::range, 0.01, 100, {0.3, 3.3}},
    {"value", Parameter::Type::whole, 0, 255, {0}},
};

const PartKind random_erasing_row("random-erasing",
                                  "A rectangle of one grey, in this share of the images",
                                  PartStage::pixels, random_erasing_parameters,
                                  [](const ParameterValues& values) -> Part {
                                    return {.operation = std::make_unique<RandomErasing>(
                                                values.number("share"), values.range("scale"),
                                                values.range("ratio"),
                                                static_cast<std::uint8_t>(values.whole("value")))};
                                  });

}  // namespace

extern const PartKind& random_erasing_part;
const PartKind& random_erasing_part = random_erasing_row;

}  // namespace feedrate::loader
