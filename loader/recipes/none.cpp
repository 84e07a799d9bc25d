#include "loader/recipe.h"

namespace feedrate {
namespace {

class None final : public Recipe {
 public:
  None() : Recipe("none", "Pixels as they are stored; every image must have one size") {}

  Shape shape(Shape stored) const override {
    if (stored.plausible()) return stored;
    throw Error("recipe none: the dataset does not tell the size of its images");
  }
  bool in_place() const override { return true; }
  void augment(const ImageView&, const SampleRandom&, Shape, MutableBytes) const override {}
};

const None none;

}  // namespace

extern const Recipe& none_recipe;
const Recipe& none_recipe = none;

}  // namespace feedrate
