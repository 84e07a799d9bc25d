#include "loader/recipe.h"

namespace feedrate::loader {
using namespace formats;

namespace {

class CifarEval final : public Recipe {
 public:
  CifarEval()
      : Recipe("cifar-eval", "Images of one size, as stored: evaluates what cifar-train trained") {}

  Shape shape(Shape stored) const override {
    if (stored.plausible()) return stored;
    throw Error("recipe cifar-eval: the dataset does not state the size of its images");
  }
  View view(Shape stored, const SampleRandom&) const override { return whole_view(stored); }
};

const CifarEval cifar_eval_row;

}  // namespace

extern const Recipe& cifar_eval_recipe;
const Recipe& cifar_eval_recipe = cifar_eval_row;

}  // namespace feedrate::loader
