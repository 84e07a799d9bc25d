#include "loader/recipe.h"
#include "loader/recipes/parameters.h"
#include "loader/recipes/random_resized_crop.h"

namespace feedrate::loader {
using namespace formats;

namespace {

struct ImagenetTrainOptions {
  std::uint32_t side = 224;
  CropLimits crop;
  double flip = 0.5;
};

class ImagenetTrain final : public Recipe {
 public:
  ImagenetTrain(std::string_view name, const ImagenetTrainOptions& options)
      : Recipe(name,
               "Random crop (8 to 100 % of the area, 3:4 to 4:3), resize to 224 x 224 RGB, flip"),
        options_(options) {}

  Shape shape(Shape) const override { return {options_.side, options_.side, 3}; }

  View view(Shape stored, const SampleRandom& random) const override {
    const Rect crop = random_resized_crop(stored, random, options_.crop);
    View view = resized_view(crop, options_.side, options_.side);
    view.mirrored = mirrors(random.bits(crop_draws), options_.flip);
    return view;
  }

  const Recipe& evaluation() const override {
    return recipe(options_.side == ImagenetTrainOptions().side
                      ? "imagenet-eval"
                      : join("imagenet-eval:size=", options_.side));
  }

 private:
  ImagenetTrainOptions options_;
};

const ImagenetTrain imagenet_train_row("imagenet-train", {});

constexpr Parameter imagenet_train_parameters[] = {
    {"size", Parameter::Type::pixels, 1, 4096},
    {"scale", Parameter::Type::range, 1e-6, 1},
    {"ratio", Parameter::Type::range, 1 / max_crop_ratio, max_crop_ratio},
    {"flip", Parameter::Type::number, 0, 1},
};

std::unique_ptr<Recipe> make_imagenet_train(std::string_view name, const ParameterValues& values) {
  const CropLimits usual;
  const NumberRange scale = values.range("scale", {usual.min_share, usual.max_share});
  const NumberRange ratio = values.range("ratio", {usual.min_ratio, usual.max_ratio});
  return std::make_unique<ImagenetTrain>(
      name, ImagenetTrainOptions{.side = values.pixels("size", ImagenetTrainOptions().side),
                                 .crop = crop_limits(scale.from, scale.to, ratio.from, ratio.to),
                                 .flip = values.number("flip", ImagenetTrainOptions().flip)});
}

}  // namespace

extern const Recipe& imagenet_train_recipe;
const Recipe& imagenet_train_recipe = imagenet_train_row;
extern const AdjustableRecipe imagenet_train_adjustable;
const AdjustableRecipe imagenet_train_adjustable{"imagenet-train", imagenet_train_parameters,
                                                 make_imagenet_train};

}  // namespace feedrate::loader
