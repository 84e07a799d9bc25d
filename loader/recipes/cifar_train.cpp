#include "loader/recipe.h"
#include "loader/recipes/parameters.h"

namespace feedrate::loader {
using namespace formats;

namespace {

struct Options {
  std::uint32_t padding = 4;  // black pixels on each side, as in He et al. (2015)
  double flip = 0.5;
};

enum Draw : std::uint32_t { draw_y, draw_x, draw_flip };

class CifarTrain final : public Recipe {
 public:
  CifarTrain(std::string_view name, const Options& options)
      : Recipe(name, "Pad with 4 black pixels, random crop of the original size, flip"),
        options_(options) {}

  Shape shape(Shape stored) const override {
    if (stored.plausible()) return stored;
    throw Error("recipe cifar-train: the dataset does not state the size of its images");
  }

  View view(Shape stored, const SampleRandom& random) const override {
    const auto shift = [&](Draw draw) {
      return static_cast<std::int32_t>(below(random.bits(draw), 2 * options_.padding + 1)) -
             static_cast<std::int32_t>(options_.padding);
    };
    View view = crop_view(shift(draw_y), shift(draw_x), stored.height, stored.width);
    view.mirrored = mirrors(random.bits(draw_flip), options_.flip);
    return view;
  }

  const Recipe& evaluation() const override { return recipe("cifar-eval"); }

 private:
  Options options_;
};

const CifarTrain row("cifar-train", {});

constexpr Parameter parameters[] = {
    {"pad", Parameter::Type::pixels, 0, 1024},
    {"flip", Parameter::Type::number, 0, 1},
};

std::unique_ptr<Recipe> make(std::string_view name, const ParameterValues& values) {
  return std::make_unique<CifarTrain>(name,
                                      Options{.padding = values.pixels("pad", Options().padding),
                                              .flip = values.number("flip", Options().flip)});
}

}  // namespace

extern const Recipe& cifar_train_recipe;
const Recipe& cifar_train_recipe = row;
extern const AdjustableRecipe cifar_train_adjustable;
const AdjustableRecipe cifar_train_adjustable{"cifar-train", parameters, make};

}  // namespace feedrate::loader
