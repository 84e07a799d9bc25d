#include "loader/recipe.h"

namespace feedrate::loader {
using namespace formats;

namespace {

// No crop, no flip: a mirrored 2 is not a 2.
class Mnist final : public Recipe {
 public:
  Mnist() : Recipe("mnist", "Grey images of one size, as stored: no crop, no flip") {}

  Shape shape(Shape stored) const override {
    if (stored.plausible() && stored.channels == 1) return stored;
    throw Error(join("recipe mnist: expected grey images (1 channel), found ", stored.channels,
                     " channels; try --recipe none"));
  }
  View view(Shape stored, const SampleRandom&) const override { return whole_view(stored); }
  bool trains() const override { return true; }
};

const Mnist mnist_row;

}  // namespace

extern const Recipe& mnist_recipe;
const Recipe& mnist_recipe = mnist_row;

}  // namespace feedrate::loader
