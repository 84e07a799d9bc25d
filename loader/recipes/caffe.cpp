// How bvlc_reference_caffenet is trained: `convert_imageset --resize_height 256 --resize_width 256`,
// then crop_size 227 and mirror. The trainer subtracts the mean.

#include "loader/recipe.h"

namespace feedrate::loader {
using namespace formats;

namespace {

constexpr Parameter caffe_parameters[] = {
    {"size", Parameter::Type::whole, 1, 4096, {227}},
    {"resize", Parameter::Type::whole, 1, 8192, {256}},
    {"flip", Parameter::Type::number, 0, 1, {0.5}},  // of training
};
constexpr std::span caffe_eval_parameters = std::span(caffe_parameters).first<2>();

/// What both recipes do: a window of the whole image, resized to a square.
class CaffeWindow {
 public:
  CaffeWindow(std::string_view recipe, const ParameterValues& values)
      : side_(values.whole("size")), scaled_(values.whole("resize")) {
    if (side_ <= scaled_) return;
    throw Error(join("recipe ", recipe, ": a crop of ", side_, " does not fit into ", scaled_,
                     " x ", scaled_));
  }

  Shape shape() const { return {side_, side_, 3}; }
  /// How far the window can move.
  std::uint32_t excess() const { return scaled_ - side_; }
  View view(Shape stored, std::uint32_t y, std::uint32_t x) const {
    View view = resized_view({0, 0, stored.height, stored.width}, scaled_, scaled_);
    view.window = {y, x, side_, side_};
    return view;
  }
  /// The values as a recipe's text; "" for the defaults.
  std::string text() const {
    const ParameterValues defaults(caffe_eval_parameters);
    if (side_ == defaults.whole("size") && scaled_ == defaults.whole("resize")) return "";
    return join(":size=", side_, ":resize=", scaled_);
  }

 private:
  std::uint32_t side_, scaled_;
};

class Caffe final : public Recipe {
 public:
  explicit Caffe(std::string_view name = "caffe",
                 const ParameterValues& values = ParameterValues(caffe_parameters))
      : Recipe(name,
               "Resize to 256 x 256 whatever the aspect ratio, random 227 x 227 crop, RGB, flip"),
        window_(name, values),
        flip_(values.number("flip")) {}

  Shape shape(Shape) const override { return window_.shape(); }

  View view(Shape stored, const SampleRandom& random) const override {
    const std::uint32_t places = window_.excess() + 1;
    View view = window_.view(stored, below(random.bits(draw_y), places),
                             below(random.bits(draw_x), places));
    view.mirrored = happens(random.bits(draw_flip), flip_);
    return view;
  }

  std::span<const Parameter> parameters() const override { return caffe_parameters; }
  std::unique_ptr<const Recipe> with(std::string_view name,
                                     const ParameterValues& values) const override {
    return std::make_unique<Caffe>(name, values);
  }

  const Recipe& evaluation() const override { return recipe("caffe-eval" + window_.text()); }

 private:
  enum Draw : std::uint32_t { draw_y, draw_x, draw_flip };

  CaffeWindow window_;
  double flip_;
};

class CaffeEval final : public Recipe {
 public:
  explicit CaffeEval(std::string_view name = "caffe-eval",
                     const ParameterValues& values = ParameterValues(caffe_eval_parameters))
      : Recipe(name, "Resize to 256 x 256, crop 227 x 227 at the centre, RGB"),
        window_(name, values) {}

  Shape shape(Shape) const override { return window_.shape(); }
  View view(Shape stored, const SampleRandom&) const override {
    return window_.view(stored, window_.excess() / 2, window_.excess() / 2);
  }

  std::span<const Parameter> parameters() const override { return caffe_eval_parameters; }
  std::unique_ptr<const Recipe> with(std::string_view name,
                                     const ParameterValues& values) const override {
    return std::make_unique<CaffeEval>(name, values);
  }

 private:
  CaffeWindow window_;
};

const Caffe caffe_row;
const CaffeEval caffe_eval_row;

}  // namespace

extern const Recipe &caffe_recipe, &caffe_eval_recipe;
const Recipe& caffe_recipe = caffe_row;
const Recipe& caffe_eval_recipe = caffe_eval_row;

}  // namespace feedrate::loader
