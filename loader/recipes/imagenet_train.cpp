#include "loader/recipe.h"
#include "loader/recipes/interpolation.h"
#include "loader/recipes/random_resized_crop.h"

namespace feedrate::loader {
using namespace formats;

namespace {

constexpr std::uint32_t default_side = 224;

constexpr Parameter imagenet_train_parameters[] = {
    {"size", Parameter::Type::whole, 1, 4096, {default_side}},
    crop_scale,
    crop_ratio,
    {"flip", Parameter::Type::number, 0, 1, {0.5}},
    drawn_interpolation,
};

class ImagenetTrain final : public Recipe {
 public:
  explicit ImagenetTrain(std::string_view name = "imagenet-train",
                         const ParameterValues& values = ParameterValues(imagenet_train_parameters))
      : Recipe(name,
               "Random crop (8 to 100 % of the area, 3:4 to 4:3), resize to 224 x 224 RGB, flip"),
        side_(values.whole("size")),
        crop_(crop_limits(values.range("scale"), values.range("ratio"))),
        flip_(values.number("flip")),
        interpolation_(values) {}

  Shape shape(Shape) const override { return {side_, side_, 3}; }

  View view(Shape stored, const SampleRandom& random) const override {
    const Rect crop = random_resized_crop(stored, random, crop_);
    View view = resized_view(crop, side_, side_, interpolation_.by(random.bits(crop_draws + 1)));
    view.mirrored = happens(random.bits(crop_draws), flip_);
    return view;
  }

  std::span<const Parameter> parameters() const override { return imagenet_train_parameters; }
  std::unique_ptr<const Recipe> with(std::string_view name,
                                     const ParameterValues& values) const override {
    return std::make_unique<ImagenetTrain>(name, values);
  }

  const Recipe& evaluation() const override {
    const std::string size = side_ == default_side ? "" : join(":size=", side_);
    return recipe(join("imagenet-eval", size, interpolation_text(interpolation_.fixed)));
  }

 private:
  std::uint32_t side_;
  CropLimits crop_;
  double flip_;
  DrawnInterpolation interpolation_;
};

const ImagenetTrain imagenet_train_row;

}  // namespace

extern const Recipe& imagenet_train_recipe;
const Recipe& imagenet_train_recipe = imagenet_train_row;

}  // namespace feedrate::loader
