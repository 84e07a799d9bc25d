#include "loader/recipe.h"
#include "loader/recipes/random_resized_crop.h"

namespace feedrate::loader {
using namespace formats;

namespace {

constexpr std::uint32_t side = 224;

class ImagenetTrain final : public Recipe {
 public:
  ImagenetTrain()
      : Recipe("imagenet-train",
               "Random crop (8 to 100 % of the area, 3:4 to 4:3), resize to 224 x 224 RGB, flip") {}

  Shape shape(Shape) const override { return {side, side, 3}; }

  View view(Shape stored, const SampleRandom& random) const override {
    View view = resized_view(random_resized_crop(stored, random), side, side);
    view.mirrored = below(random.bits(crop_draws), 2) == 1;
    return view;
  }

  const Recipe& evaluation() const override { return recipe("imagenet-eval"); }
};

const ImagenetTrain row;

}  // namespace

extern const Recipe& imagenet_train_recipe;
const Recipe& imagenet_train_recipe = row;

}  // namespace feedrate::loader
