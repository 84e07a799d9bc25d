#include <array>

#include "loader/augment/rand_augment.h"
#include "loader/recipes/part.h"

namespace feedrate::loader {

namespace {

struct Step {
  Change change;
  int tenths;  // in this share of the images
  std::uint32_t magnitude = 0;
};
struct Pair {
  Step first, second;
};
constexpr std::size_t pairs = 25;
constexpr std::uint32_t bins = 10;

// torchvision's AutoAugmentPolicy.
using Policy = std::array<Pair, pairs>;
constexpr Policy imagenet = [] {
  using enum Change;
  return Policy{{
      {{posterize, 4, 8}, {rotate, 6, 9}}, {{solarize, 6, 5}, {autocontrast, 6}},
      {{equalize, 8}, {equalize, 6}},      {{posterize, 6, 7}, {posterize, 6, 6}},
      {{equalize, 4}, {solarize, 2, 4}},   {{equalize, 4}, {rotate, 8, 8}},
      {{solarize, 6, 3}, {equalize, 6}},   {{posterize, 8, 5}, {equalize, 10}},
      {{rotate, 2, 3}, {solarize, 6, 8}},  {{equalize, 6}, {posterize, 4, 6}},
      {{rotate, 8, 8}, {colour, 4, 0}},    {{rotate, 4, 9}, {equalize, 6}},
      {{equalize, 0}, {equalize, 8}},      {{invert, 6}, {equalize, 10}},
      {{colour, 6, 4}, {contrast, 10, 8}}, {{rotate, 8, 8}, {colour, 10, 2}},
      {{colour, 8, 8}, {solarize, 8, 7}},  {{sharpness, 4, 7}, {invert, 6}},
      {{shear_x, 6, 5}, {equalize, 10}},   {{colour, 4, 0}, {equalize, 6}},
      {{equalize, 4}, {solarize, 2, 4}},   {{solarize, 6, 5}, {autocontrast, 6}},
      {{invert, 6}, {equalize, 10}},       {{colour, 6, 4}, {contrast, 10, 8}},
      {{equalize, 8}, {equalize, 6}},
  }};
}();
constexpr Policy cifar10 = [] {
  using enum Change;
  return Policy{{
      {{invert, 1}, {contrast, 2, 6}},          {{rotate, 7, 2}, {translate_x, 3, 9}},
      {{sharpness, 8, 1}, {sharpness, 9, 3}},   {{shear_y, 5, 8}, {translate_y, 7, 9}},
      {{autocontrast, 5}, {equalize, 9}},       {{shear_y, 2, 7}, {posterize, 3, 7}},
      {{colour, 4, 3}, {brightness, 6, 7}},     {{sharpness, 3, 9}, {brightness, 7, 9}},
      {{equalize, 6}, {equalize, 5}},           {{contrast, 6, 7}, {sharpness, 6, 5}},
      {{colour, 7, 7}, {translate_x, 5, 8}},    {{equalize, 3}, {autocontrast, 4}},
      {{translate_y, 4, 3}, {sharpness, 2, 6}}, {{brightness, 9, 6}, {colour, 2, 8}},
      {{solarize, 5, 2}, {invert, 0}},          {{equalize, 2}, {autocontrast, 6}},
      {{equalize, 2}, {equalize, 6}},           {{colour, 9, 9}, {equalize, 6}},
      {{autocontrast, 8}, {solarize, 2, 8}},    {{brightness, 1, 3}, {colour, 7, 0}},
      {{solarize, 4, 5}, {autocontrast, 9}},    {{translate_y, 9, 9}, {translate_y, 7, 9}},
      {{autocontrast, 9}, {solarize, 8, 3}},    {{equalize, 8}, {invert, 1}},
      {{translate_y, 7, 9}, {autocontrast, 9}},
  }};
}();
constexpr Policy svhn = [] {
  using enum Change;
  return Policy{{
      {{shear_x, 9, 4}, {invert, 2}},          {{shear_y, 9, 8}, {invert, 7}},
      {{equalize, 6}, {solarize, 6, 6}},       {{invert, 9}, {equalize, 6}},
      {{equalize, 6}, {rotate, 9, 3}},         {{shear_x, 9, 4}, {autocontrast, 8}},
      {{shear_y, 9, 8}, {invert, 4}},          {{shear_y, 9, 5}, {solarize, 2, 6}},
      {{invert, 9}, {autocontrast, 8}},        {{equalize, 6}, {rotate, 9, 3}},
      {{shear_x, 9, 4}, {solarize, 3, 3}},     {{shear_y, 8, 8}, {invert, 7}},
      {{equalize, 9}, {translate_y, 6, 6}},    {{invert, 9}, {equalize, 6}},
      {{contrast, 3, 3}, {rotate, 8, 4}},      {{invert, 8}, {translate_y, 0, 2}},
      {{shear_y, 7, 6}, {solarize, 4, 8}},     {{invert, 6}, {rotate, 8, 4}},
      {{shear_y, 3, 7}, {translate_x, 9, 3}},  {{shear_x, 1, 6}, {invert, 6}},
      {{solarize, 7, 2}, {translate_y, 6, 7}}, {{shear_y, 8, 4}, {invert, 8}},
      {{shear_x, 7, 9}, {translate_y, 8, 3}},  {{shear_y, 8, 5}, {autocontrast, 7}},
      {{shear_x, 7, 2}, {invert, 1}},
  }};
}();
constexpr const Policy* policies[] = {&imagenet, &cifar10, &svhn};
constexpr std::string_view policy_names[] = {"imagenet", "cifar10", "svhn"};

/// torchvision's AutoAugment: a random one of 25 pairs of changes, each with a probability.
class AutoAugment final : public Operation {
 public:
  AutoAugment(const Policy& policy, Taking taking) : policy_(policy), taking_(taking) {}

  std::size_t scratch_bytes(formats::Shape shape) const override { return shape.bytes(); }

  void apply(Canvas image, Draws& draws, std::span<std::uint8_t> scratch) const override {
    const Pair& pair = policy_[draws.below(pairs)];
    for (const Step& step : {pair.first, pair.second}) {
      const bool happens = draws.happens(step.tenths / 10.0);
      const bool minus = draws.below(2) == 0 && has_sign(step.change);
      if (!happens) continue;
      const double size = size_of(step.change, usual_ranges(image.shape, bins), step.magnitude);
      change_image(step.change, minus ? -size : size, image, scratch, taking_);
    }
  }

 private:
  const Policy& policy_;
  Taking taking_;
};

constexpr Parameter auto_augment_parameters[] = {
    word_parameter("policy", policy_names),
    nearness_parameter,
    colour_value,
    colour_green,
    colour_blue,
};

const PartKind auto_augment_row(
    "auto-augment", "AutoAugment: two colour or geometric operations, by the policy of a dataset",
    PartStage::pixels, auto_augment_parameters, [](const ParameterValues& values) -> Part {
      return {.operation = std::make_unique<AutoAugment>(*policies[values.whole("policy")],
                                                         taking_of(values))};
    });

}  // namespace

extern const PartKind& auto_augment_part;
const PartKind& auto_augment_part = auto_augment_row;

}  // namespace feedrate::loader
