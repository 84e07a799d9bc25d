#include "loader/recipe.h"

namespace feedrate::loader {
using namespace formats;

namespace {

class None final : public Recipe {
 public:
  None() : Recipe("none", "Pixels as stored; all images must have the same size") {}

  Shape shape(Shape stored) const override {
    if (stored.plausible()) return stored;
    throw Error("recipe none: the dataset does not state the size of its images");
  }
  View view(Shape stored, const SampleRandom&) const override { return whole_view(stored); }
  bool trains() const override { return true; }
};

const None none_row;

}  // namespace

extern const Recipe& none_recipe;
const Recipe& none_recipe = none_row;

}  // namespace feedrate::loader
