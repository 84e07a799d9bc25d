#include "loader/recipes/rows.h"

namespace feedrate::loader {
using namespace formats;

namespace {

class None final : public Recipe {
 public:
  None() : Recipe("none", "Pixels as they are stored; every image must have one size") {}

  Shape shape(Shape stored) const override {
    if (stored.plausible()) return stored;
    throw Error("recipe none: the dataset does not tell the size of its images");
  }
  View view(Shape stored, const SampleRandom&) const override { return whole_view(stored); }
};

const None none;

}  // namespace

const Recipe& none_recipe = none;

}  // namespace feedrate::loader
