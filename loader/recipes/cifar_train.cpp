#include "loader/recipe.h"

namespace feedrate::loader {
using namespace formats;

namespace {

constexpr std::uint32_t padding = 4;  // black pixels on each side, as in He et al. (2015)

enum Draw : std::uint32_t { draw_y, draw_x, draw_flip };

class CifarTrain final : public Recipe {
 public:
  CifarTrain()
      : Recipe("cifar-train", "Pad with 4 black pixels, random crop of the original size, flip") {}

  Shape shape(Shape stored) const override {
    if (stored.plausible()) return stored;
    throw Error("recipe cifar-train: the dataset does not state the size of its images");
  }

  View view(Shape stored, const SampleRandom& random) const override {
    const auto shift = [&](Draw draw) {
      return static_cast<std::int32_t>(below(random.bits(draw), 2 * padding + 1)) -
             static_cast<std::int32_t>(padding);
    };
    View view = crop_view(shift(draw_y), shift(draw_x), stored.height, stored.width);
    view.mirrored = below(random.bits(draw_flip), 2) == 1;
    return view;
  }

  const Recipe& evaluation() const override { return recipe("cifar-eval"); }
};

const CifarTrain row;

}  // namespace

extern const Recipe& cifar_train_recipe;
const Recipe& cifar_train_recipe = row;

}  // namespace feedrate::loader
