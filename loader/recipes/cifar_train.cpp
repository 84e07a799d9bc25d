#include "loader/recipe.h"

namespace feedrate::loader {
using namespace formats;

namespace {

constexpr Parameter cifar_train_parameters[] = {
    {"pad", Parameter::Type::whole, 0, 1024, {4}},  // pixels on each side, as in He et al. (2015)
    {"flip", Parameter::Type::number, 0, 1, {0.5}},
};

class CifarTrain final : public Recipe {
 public:
  explicit CifarTrain(std::string_view name = "cifar-train",
                      const ParameterValues& values = ParameterValues(cifar_train_parameters))
      : Recipe(name, "Pad with 4 black pixels, random crop of the original size, flip"),
        padding_(values.whole("pad")),
        flip_(values.number("flip")) {}

  Shape shape(Shape stored) const override {
    if (stored.plausible()) return stored;
    throw Error("recipe cifar-train: the dataset does not state the size of its images");
  }

  View view(Shape stored, const SampleRandom& random) const override {
    const auto shift = [&](Draw draw) {
      return static_cast<std::int32_t>(below(random.bits(draw), 2 * padding_ + 1)) -
             static_cast<std::int32_t>(padding_);
    };
    View view = crop_view(shift(draw_y), shift(draw_x), stored.height, stored.width);
    view.mirrored = happens(random.bits(draw_flip), flip_);
    return view;
  }

  std::span<const Parameter> parameters() const override { return cifar_train_parameters; }
  std::unique_ptr<const Recipe> with(std::string_view name,
                                     const ParameterValues& values) const override {
    return std::make_unique<CifarTrain>(name, values);
  }

  const Recipe& evaluation() const override { return recipe("cifar-eval"); }

 private:
  enum Draw : std::uint32_t { draw_y, draw_x, draw_flip };

  std::uint32_t padding_;
  double flip_;
};

const CifarTrain cifar_train_row;

}  // namespace

extern const Recipe& cifar_train_recipe;
const Recipe& cifar_train_recipe = cifar_train_row;

}  // namespace feedrate::loader
