#include <algorithm>
#include <array>
#include <utility>

#include "loader/augment/tones.h"
#include "loader/recipes/part.h"

namespace feedrate::loader {

namespace {

struct Strengths {
  double brightness, contrast, saturation, hue;
};

/// torchvision's ColorJitter. A grey image has no saturation and no hue to change.
class ColorJitter final : public Operation {
 public:
  explicit ColorJitter(const Strengths& strengths) : strengths_(strengths) {}

  void apply(Canvas image, Draws& draws, std::span<std::uint8_t>) const override {
    std::array<int, 4> order{0, 1, 2, 3};
    for (std::uint32_t left = 4; left > 1; --left)
      std::swap(order[left - 1], order[draws.below(left)]);
    const auto factor = [&](double strength) {
      return static_cast<float>(draws.uniform(std::max(0.0, 1 - strength), 1 + strength));
    };
    const float brightness = factor(strengths_.brightness), contrast = factor(strengths_.contrast),
                saturation = factor(strengths_.saturation);
    const double hue = draws.uniform(-strengths_.hue, strengths_.hue);
    for (const int change : order) {
      if (change == 0 && strengths_.brightness > 0) adjust_brightness(image, brightness);
      if (change == 1 && strengths_.contrast > 0) adjust_contrast(image, contrast);
      if (change == 2 && strengths_.saturation > 0) adjust_saturation(image, saturation);
      if (change == 3 && strengths_.hue > 0) adjust_hue(image, hue);
    }
  }

 private:
  Strengths strengths_;
};

constexpr Parameter color_jitter_parameters[] = {
    {"brightness", Parameter::Type::number, 0, 100, {0}},
    {"contrast", Parameter::Type::number, 0, 100, {0}},
    {"saturation", Parameter::Type::number, 0, 100, {0}},
    {"hue", Parameter::Type::number, 0, 0.5, {0}},
};

const PartKind color_jitter_row(
    "color-jitter", "Brightness, contrast, saturation and hue, in random order", PartStage::pixels,
    color_jitter_parameters, [](const ParameterValues& values) -> Part {
      return {.operation = std::make_unique<ColorJitter>(
                  Strengths{values.number("brightness"), values.number("contrast"),
                            values.number("saturation"), values.number("hue")})};
    });

}  // namespace

extern const PartKind& color_jitter_part;
const PartKind& color_jitter_part = color_jitter_row;

}  // namespace feedrate::loader
