#include "formats/pixels/resize.h"
#include "loader/recipe.h"
#include "loader/recipes/parameters.h"

namespace feedrate::loader {
using namespace formats;

namespace {

constexpr std::uint32_t usual_side = 224;

// 256 for 224, and the same share for other sizes.
std::uint32_t usual_short_side(std::uint32_t side) { return (side * 8 + 3) / 7; }

// Where torchvision's CenterCrop begins: half of the excess, rounded half to even.
std::uint32_t central(std::uint32_t length, std::uint32_t side) {
  const std::uint32_t excess = length - side;
  return excess / 2 + (excess % 4 == 3 ? 1 : 0);
}

class ImagenetEval final : public Recipe {
 public:
  ImagenetEval(std::string_view name, std::uint32_t side, std::uint32_t short_side)
      : Recipe(name, "Resize the short side to 256, crop 224 x 224 at the centre, RGB"),
        side_(side),
        short_side_(short_side) {}

  Shape shape(Shape) const override { return {side_, side_, 3}; }

  View view(Shape stored, const SampleRandom&) const override {
    const Shape scaled = Resize{Resize::Fit::short_side, short_side_, short_side_}.target(stored);
    View view = resized_view({0, 0, stored.height, stored.width}, scaled.height, scaled.width);
    view.window = {central(scaled.height, side_), central(scaled.width, side_), side_, side_};
    return view;
  }

 private:
  std::uint32_t side_, short_side_;
};

const ImagenetEval imagenet_eval_row("imagenet-eval", usual_side, usual_short_side(usual_side));

constexpr Parameter imagenet_eval_parameters[] = {
    {"size", Parameter::Type::pixels, 1, 4096},
    {"resize", Parameter::Type::pixels, 1, 8192},
};

std::unique_ptr<Recipe> make_imagenet_eval(std::string_view name, const ParameterValues& values) {
  const std::uint32_t side = values.pixels("size", usual_side);
  const std::uint32_t short_side = values.pixels("resize", usual_short_side(side));
  if (side > short_side) {
    throw Error(join("recipe ", name, ": a crop of ", side, " does not fit into a short side of ",
                     short_side));
  }
  return std::make_unique<ImagenetEval>(name, side, short_side);
}

}  // namespace

extern const Recipe& imagenet_eval_recipe;
const Recipe& imagenet_eval_recipe = imagenet_eval_row;
extern const AdjustableRecipe imagenet_eval_adjustable;
const AdjustableRecipe imagenet_eval_adjustable{"imagenet-eval", imagenet_eval_parameters,
                                                make_imagenet_eval};

}  // namespace feedrate::loader
