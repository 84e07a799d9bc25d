#include "loader/recipes/rows.h"

namespace feedrate::loader {
using namespace formats;

namespace {

class CifarEval final : public Recipe {
 public:
  CifarEval()
      : Recipe("cifar-eval",
               "Images of one size as they are stored: what cifar-train is measured with") {}

  Shape shape(Shape stored) const override {
    if (stored.plausible()) return stored;
    throw Error("recipe cifar-eval: the dataset does not tell the size of its images");
  }
  View view(Shape stored, const SampleRandom&) const override { return whole_view(stored); }
};

const CifarEval row;

}  // namespace

const Recipe& cifar_eval_recipe = row;

}  // namespace feedrate::loader
