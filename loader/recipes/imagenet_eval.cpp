#include "formats/pixels/resize.h"
#include "loader/recipe.h"

namespace feedrate::loader {
using namespace formats;

namespace {

constexpr std::uint32_t short_side = 256;
constexpr std::uint32_t side = 224;

// Where torchvision's CenterCrop begins: half of the excess, rounded half to even.
std::uint32_t central(std::uint32_t length) {
  const std::uint32_t excess = length - side;
  return excess / 2 + (excess % 4 == 3 ? 1 : 0);
}

class ImagenetEval final : public Recipe {
 public:
  ImagenetEval()
      : Recipe("imagenet-eval", "Resize the short side to 256, crop 224 x 224 at the centre, RGB") {
  }

  Shape shape(Shape) const override { return {side, side, 3}; }

  View view(Shape stored, const SampleRandom&) const override {
    const Shape scaled = Resize{Resize::Fit::short_side, short_side, short_side}.target(stored);
    View view = resized_view({0, 0, stored.height, stored.width}, scaled.height, scaled.width);
    view.window = {central(scaled.height), central(scaled.width), side, side};
    return view;
  }
};

const ImagenetEval row;

}  // namespace

extern const Recipe& imagenet_eval_recipe;
const Recipe& imagenet_eval_recipe = row;

}  // namespace feedrate::loader
