#include "loader/recipe.h"

namespace feedrate::loader {
using namespace formats;

namespace {

// How bvlc_reference_caffenet is trained: `convert_imageset --resize_height 256 --resize_width
// 256`, then crop_size 227 and mirror. The trainer subtracts the mean.
constexpr std::uint32_t scaled = 256;
constexpr std::uint32_t side = 227;

enum Draw : std::uint32_t { draw_y, draw_x, draw_flip };

View window_of(Shape stored, std::uint32_t y, std::uint32_t x) {
  View view = resized_view({0, 0, stored.height, stored.width}, scaled, scaled);
  view.window = {y, x, side, side};
  return view;
}

class Caffe final : public Recipe {
 public:
  Caffe()
      : Recipe("caffe",
               "Resize to 256 x 256 whatever the ratio was, random 227 x 227 crop, RGB, flip") {}

  Shape shape(Shape) const override { return {side, side, 3}; }

  View view(Shape stored, const SampleRandom& random) const override {
    View view = window_of(stored, below(random.bits(draw_y), scaled - side + 1),
                          below(random.bits(draw_x), scaled - side + 1));
    view.mirrored = below(random.bits(draw_flip), 2) == 1;
    return view;
  }

  const Recipe& evaluation() const override { return recipe("caffe-eval"); }
};

class CaffeEval final : public Recipe {
 public:
  CaffeEval() : Recipe("caffe-eval", "Resize to 256 x 256, crop 227 x 227 at the centre, RGB") {}

  Shape shape(Shape) const override { return {side, side, 3}; }
  View view(Shape stored, const SampleRandom&) const override {
    return window_of(stored, (scaled - side) / 2, (scaled - side) / 2);
  }
};

const Caffe row;
const CaffeEval eval_row;

}  // namespace

extern const Recipe& caffe_recipe;
extern const Recipe& caffe_eval_recipe;
const Recipe& caffe_recipe = row;
const Recipe& caffe_eval_recipe = eval_row;

}  // namespace feedrate::loader
