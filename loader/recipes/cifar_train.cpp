#include "loader/recipe.h"
#include "loader/recipes/parameters.h"

namespace feedrate::loader {
using namespace formats;

namespace {

struct CifarTrainOptions {
  std::uint32_t padding = 4;  // black pixels on each side, as in He et al. (2015)
  double flip = 0.5;
};

enum CifarTrainDraw : std::uint32_t { cifar_draw_y, cifar_draw_x, cifar_draw_flip };

class CifarTrain final : public Recipe {
 public:
  CifarTrain(std::string_view name, const CifarTrainOptions& options)
      : Recipe(name, "Pad with 4 black pixels, random crop of the original size, flip"),
        options_(options) {}

  Shape shape(Shape stored) const override {
    if (stored.plausible()) return stored;
    throw Error("recipe cifar-train: the dataset does not state the size of its images");
  }

  View view(Shape stored, const SampleRandom& random) const override {
    const auto shift = [&](CifarTrainDraw draw) {
      return static_cast<std::int32_t>(below(random.bits(draw), 2 * options_.padding + 1)) -
             static_cast<std::int32_t>(options_.padding);
    };
    View view = crop_view(shift(cifar_draw_y), shift(cifar_draw_x), stored.height, stored.width);
    view.mirrored = mirrors(random.bits(cifar_draw_flip), options_.flip);
    return view;
  }

  const Recipe& evaluation() const override { return recipe("cifar-eval"); }

 private:
  CifarTrainOptions options_;
};

const CifarTrain cifar_train_row("cifar-train", {});

constexpr Parameter cifar_train_parameters[] = {
    {"pad", Parameter::Type::pixels, 0, 1024},
    {"flip", Parameter::Type::number, 0, 1},
};

std::unique_ptr<Recipe> make_cifar_train(std::string_view name, const ParameterValues& values) {
  return std::make_unique<CifarTrain>(
      name, CifarTrainOptions{.padding = values.pixels("pad", CifarTrainOptions().padding),
                              .flip = values.number("flip", CifarTrainOptions().flip)});
}

}  // namespace

extern const Recipe& cifar_train_recipe;
const Recipe& cifar_train_recipe = cifar_train_row;
extern const AdjustableRecipe cifar_train_adjustable;
const AdjustableRecipe cifar_train_adjustable{"cifar-train", cifar_train_parameters,
                                              make_cifar_train};

}  // namespace feedrate::loader
