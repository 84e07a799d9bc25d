#include "loader/recipe.h"
#include "loader/recipes/parameters.h"

namespace feedrate::loader {
using namespace formats;

namespace {

// How bvlc_reference_caffenet is trained: `convert_imageset --resize_height 256 --resize_width
// 256`, then crop_size 227 and mirror. The trainer subtracts the mean.
struct Options {
  std::uint32_t scaled = 256;
  std::uint32_t side = 227;
  double flip = 0.5;
};

enum CaffeDraw : std::uint32_t { caffe_draw_y, caffe_draw_x, caffe_draw_flip };

View window_of(Shape stored, const Options& options, std::uint32_t y, std::uint32_t x) {
  View view = resized_view({0, 0, stored.height, stored.width}, options.scaled, options.scaled);
  view.window = {y, x, options.side, options.side};
  return view;
}

class Caffe final : public Recipe {
 public:
  Caffe(std::string_view name, const Options& options)
      : Recipe(name,
               "Resize to 256 x 256 whatever the ratio was, random 227 x 227 crop, RGB, flip"),
        options_(options) {}

  Shape shape(Shape) const override { return {options_.side, options_.side, 3}; }

  View view(Shape stored, const SampleRandom& random) const override {
    const std::uint32_t places = options_.scaled - options_.side + 1;
    View view = window_of(stored, options_, below(random.bits(caffe_draw_y), places),
                          below(random.bits(caffe_draw_x), places));
    view.mirrored = mirrors(random.bits(caffe_draw_flip), options_.flip);
    return view;
  }

  const Recipe& evaluation() const override {
    const Options usual;
    if (options_.side == usual.side && options_.scaled == usual.scaled) return recipe("caffe-eval");
    return recipe(join("caffe-eval:size=", options_.side, ":resize=", options_.scaled));
  }

 private:
  Options options_;
};

class CaffeEval final : public Recipe {
 public:
  CaffeEval(std::string_view name, const Options& options)
      : Recipe(name, "Resize to 256 x 256, crop 227 x 227 at the centre, RGB"), options_(options) {}

  Shape shape(Shape) const override { return {options_.side, options_.side, 3}; }
  View view(Shape stored, const SampleRandom&) const override {
    const std::uint32_t first = (options_.scaled - options_.side) / 2;
    return window_of(stored, options_, first, first);
  }

 private:
  Options options_;
};

const Caffe caffe_row("caffe", {});
const CaffeEval eval_row("caffe-eval", {});

constexpr Parameter parameters[] = {
    {"size", Parameter::Type::pixels, 1, 4096},
    {"resize", Parameter::Type::pixels, 1, 8192},
    {"flip", Parameter::Type::number, 0, 1},
};

template <class Made>
std::unique_ptr<Recipe> make(std::string_view name, const ParameterValues& values) {
  const Options options{.scaled = values.pixels("resize", Options().scaled),
                        .side = values.pixels("size", Options().side),
                        .flip = values.number("flip", Options().flip)};
  if (options.side > options.scaled) {
    throw Error(join("recipe ", name, ": a crop of ", options.side, " does not fit into ",
                     options.scaled, " x ", options.scaled));
  }
  return std::make_unique<Made>(name, options);
}

}  // namespace

extern const Recipe& caffe_recipe;
extern const Recipe& caffe_eval_recipe;
const Recipe& caffe_recipe = caffe_row;
const Recipe& caffe_eval_recipe = eval_row;
extern const AdjustableRecipe caffe_adjustable;
extern const AdjustableRecipe caffe_eval_adjustable;
const AdjustableRecipe caffe_adjustable{"caffe", parameters, make<Caffe>};
const AdjustableRecipe caffe_eval_adjustable{"caffe-eval", std::span(parameters).first<2>(),
                                             make<CaffeEval>};

}  // namespace feedrate::loader
