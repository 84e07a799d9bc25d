#include "formats/pixels/resize.h"
#include "loader/recipe.h"
#include "loader/recipes/interpolation.h"

namespace feedrate::loader {
using namespace formats;

namespace {

constexpr Parameter imagenet_eval_parameters[] = {
    {"size", Parameter::Type::whole, 1, 4096, {224}},
    {"resize", Parameter::Type::whole, 1, 8192, {256}},  // for other sizes, the same share more
    fixed_interpolation,
};

// Where torchvision's CenterCrop begins: half of the excess, rounded half to even.
std::uint32_t central(std::uint32_t length, std::uint32_t side) {
  const std::uint32_t excess = length - side;
  return excess / 2 + (excess % 4 == 3 ? 1 : 0);
}

class ImagenetEval final : public Recipe {
 public:
  explicit ImagenetEval(std::string_view name = "imagenet-eval",
                        const ParameterValues& values = ParameterValues(imagenet_eval_parameters))
      : Recipe(name, "Resize the short side to 256, crop 224 x 224 at the centre, RGB"),
        side_(values.whole("size")),
        short_side_(values.is_given("resize") ? values.whole("resize") : (side_ * 8 + 3) / 7),
        interpolation_(interpolation_of(values)) {
    if (side_ <= short_side_) return;
    throw Error(join("recipe ", name, ": a crop of ", side_, " does not fit into a short side of ",
                     short_side_));
  }

  Shape shape(Shape) const override { return {side_, side_, 3}; }

  View view(Shape stored, const SampleRandom&) const override {
    const Shape scaled = Resize{Resize::Fit::short_side, short_side_, short_side_}.whole(stored);
    View view = resized_view({0, 0, stored.height, stored.width}, scaled.height, scaled.width,
                             interpolation_);
    view.window = {central(scaled.height, side_), central(scaled.width, side_), side_, side_};
    return view;
  }

  std::span<const Parameter> parameters() const override { return imagenet_eval_parameters; }
  std::unique_ptr<const Recipe> with(std::string_view name,
                                     const ParameterValues& values) const override {
    return std::make_unique<ImagenetEval>(name, values);
  }

 private:
  std::uint32_t side_, short_side_;
  Interpolation interpolation_;
};

const ImagenetEval imagenet_eval_row;

}  // namespace

extern const Recipe& imagenet_eval_recipe;
const Recipe& imagenet_eval_recipe = imagenet_eval_row;

}  // namespace feedrate::loader
