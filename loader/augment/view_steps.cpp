// The parts that choose which pixels are seen: torchvision's transforms of those names.

#include <algorithm>
#include <utility>

#include "formats/pixels/resize.h"
#include "loader/recipes/interpolation.h"
#include "loader/recipes/part.h"
#include "loader/recipes/random_resized_crop.h"

namespace feedrate::loader {
using namespace formats;

namespace {

constexpr Parameter size_224{"size", Parameter::Type::whole, 1, 4096, {224}};
constexpr Parameter given_height{"height", Parameter::Type::whole, 1, 8192, {224}};
constexpr Parameter given_width{"width", Parameter::Type::whole, 1, 8192, {224}};

struct Sides {
  std::uint32_t height, width;
};

// size=224, or height=224:width=160.
Sides sides_of(std::string_view part, const ParameterValues& values) {
  const bool tall = values.is_given("height"), wide = values.is_given("width");
  if (tall != wide || (tall && values.is_given("size")))
    throw Error(join("recipe ", part, ": expected size, or both height and width"));
  if (tall) return {values.whole("height"), values.whole("width")};
  return {values.whole("size"), values.whole("size")};
}

// As sides_of() reads it.
std::string text_of(Sides sides) {
  if (sides.height == sides.width) return join("size=", sides.height);
  return join("height=", sides.height, ":width=", sides.width);
}

void expect_room(std::string_view part, Sides sides, Shape before, std::uint32_t pad = 0) {
  if (sides.height <= before.height + 2 * pad && sides.width <= before.width + 2 * pad) return;
  const std::string crop =
      sides.height == sides.width ? join(sides.height) : join(sides.height, " x ", sides.width);
  throw Error(join("recipe ", part, ": a crop of ", crop, " does not fit into ", before.height,
                   " x ", before.width));
}

class RandomResizedCrop final : public ViewStep {
 public:
  RandomResizedCrop(Sides sides, const CropLimits& limits, DrawnInterpolation interpolation)
      : sides_(sides), limits_(limits), interpolation_(interpolation) {}
  Shape shape(Shape) const override { return {sides_.height, sides_.width, 3}; }
  void change(View& view, Shape stored, Draws& draws) const override {
    view = resized_view(random_resized_crop(stored, draws.random(), limits_), sides_.height,
                        sides_.width, interpolation_.by(draws.bits()));
  }
  // The usual one keeps a ratio, which sides of two lengths do not.
  std::string evaluation() const override {
    const std::string how = interpolation_text(interpolation_.fixed);
    return sides_.height == sides_.width ? join("imagenet-eval:size=", sides_.height, how)
                                         : join("resize:", text_of(sides_), how, "+rgb");
  }
  bool begins_evaluation() const override { return true; }

 private:
  Sides sides_;
  CropLimits limits_;
  DrawnInterpolation interpolation_;
};

class ResizeStep final : public ViewStep {
 public:
  ResizeStep(std::uint32_t side, Interpolation interpolation)
      : side_(side), interpolation_(interpolation) {}
  Shape shape(Shape before) const override {
    return before.plausible() ? scaled(before) : before;  // not stated
  }
  void change(View& view, Shape, Draws&) const override {
    const Shape after = scaled({view.height, view.width, 3});
    view = resized_view({0, 0, view.height, view.width}, after.height, after.width, interpolation_);
  }
  std::string evaluation() const override {
    return join("resize:size=", side_, interpolation_text(interpolation_));
  }

 private:
  // A crop may follow, so that little of a large result is seen.
  Shape scaled(Shape before) const {
    return Resize{Resize::Fit::short_side, side_, side_}.whole(before);
  }
  std::uint32_t side_;
  Interpolation interpolation_;
};

/// The whole image, whatever its ratio.
class ResizeExactly final : public ViewStep {
 public:
  ResizeExactly(Sides sides, Interpolation interpolation)
      : sides_(sides), interpolation_(interpolation) {}
  Shape shape(Shape before) const override {
    return {sides_.height, sides_.width, before.channels};
  }
  void change(View& view, Shape, Draws&) const override {
    view =
        resized_view({0, 0, view.height, view.width}, sides_.height, sides_.width, interpolation_);
  }
  std::string evaluation() const override {
    return join("resize:height=", sides_.height, ":width=", sides_.width,
                interpolation_text(interpolation_));
  }

 private:
  Sides sides_;
  Interpolation interpolation_;
};

class CenterCrop final : public ViewStep {
 public:
  explicit CenterCrop(Sides sides) : sides_(sides) {}
  Shape shape(Shape before) const override {
    expect_room("center-crop", sides_, before);
    return {sides_.height, sides_.width, before.channels};
  }
  void change(View& view, Shape, Draws&) const override {
    const auto [height, width] = sides_;
    Rect& window = view.window;
    const std::uint32_t left = central(window.width, width);
    const std::uint32_t x = view.mirrored ? window.width - width - left : left;
    window = {window.y + central(window.height, height), window.x + x, height, width};
  }
  std::string evaluation() const override { return join("center-crop:", text_of(sides_)); }

 private:
  // Half of the excess, rounded half to even.
  static std::uint32_t central(std::uint32_t length, std::uint32_t side) {
    const std::uint32_t excess = length - std::min(length, side);
    return excess / 2 + (excess % 4 == 3 ? 1 : 0);
  }
  Sides sides_;
};

class RandomCrop final : public ViewStep {
 public:
  RandomCrop(Sides sides, std::uint32_t padding) : sides_(sides), padding_(padding) {}
  Shape shape(Shape before) const override {
    expect_room("random-crop", sides_, before, padding_);
    return {sides_.height, sides_.width, before.channels};
  }
  void change(View& view, Shape stored, Draws& draws) const override {
    const auto [height, width] = sides_;
    const std::uint32_t y = draw(view.window.height, height, draws),
                        x = draw(view.window.width, width, draws);
    if (padding_ == 0) {
      view.window = {view.window.y + y, view.window.x + x, height, width};
      return;
    }
    // Beyond a part of an image lie its other pixels, not black ones.
    const bool mirrored = std::exchange(view.mirrored, false);
    if (!shows_all(view, stored))
      throw Error("recipe random-crop: only whole images can be padded, as they are stored");
    const auto moved = [this](std::uint32_t by) {
      return static_cast<std::int32_t>(by) - static_cast<std::int32_t>(padding_);
    };
    view = crop_view(moved(y), moved(x), height, width);
    view.mirrored = mirrored;
  }
  std::string evaluation() const override { return join("center-crop:", text_of(sides_)); }

 private:
  std::uint32_t draw(std::uint32_t length, std::uint32_t side, Draws& draws) const {
    const std::uint32_t padded = length + 2 * padding_;
    return draws.below(padded - std::min(padded, side) + 1);
  }
  Sides sides_;
  std::uint32_t padding_;
};

/// The pixels that are seen, as colours or as greys.
class Channels final : public ViewStep {
 public:
  Channels(std::string_view part, std::uint32_t channels) : part_(part), channels_(channels) {}
  Shape shape(Shape before) const override { return {before.height, before.width, channels_}; }
  void change(View&, Shape, Draws&) const override {}
  bool makes_grey() const override { return channels_ == 1; }
  std::string evaluation() const override { return std::string(part_); }

 private:
  std::string_view part_;
  std::uint32_t channels_;
};

class Flip final : public ViewStep {
 public:
  explicit Flip(double share) : share_(share) {}
  Shape shape(Shape before) const override { return before; }
  void change(View& view, Shape, Draws& draws) const override {
    if (draws.happens(share_)) view.mirrored = !view.mirrored;
  }

 private:
  double share_;
};

constexpr Parameter crop_parameters[] = {size_224,   given_height, given_width,
                                         crop_scale, crop_ratio,   drawn_interpolation};
const PartKind random_resized_crop_row(
    "random-resized-crop",
    "Random crop by area (scale) and aspect ratio, resized to size, or height x width",
    PartStage::resize, crop_parameters, [](const ParameterValues& values) -> Part {
      return {.step = std::make_unique<RandomResizedCrop>(
                  sides_of("random-resized-crop", values),
                  crop_limits(values.range("scale"), values.range("ratio")),
                  DrawnInterpolation(values))};
    });

constexpr Parameter resize_parameters[] = {{"size", Parameter::Type::whole, 1, 8192, {256}},
                                           given_height,
                                           given_width,
                                           fixed_interpolation};
const PartKind resize_row("resize", "Resize the short side to size, or the image to height x width",
                          PartStage::resize, resize_parameters,
                          [](const ParameterValues& values) -> Part {
                            const Sides sides = sides_of("resize", values);
                            const Interpolation how = interpolation_of(values);
                            if (values.is_given("height"))
                              return {.step = std::make_unique<ResizeExactly>(sides, how)};
                            return {.step = std::make_unique<ResizeStep>(sides.height, how)};
                          });

constexpr Parameter center_parameters[] = {size_224, given_height, given_width};
const PartKind center_crop_row("center-crop", "Crop at the centre, size x size or height x width",
                               PartStage::crop, center_parameters,
                               [](const ParameterValues& values) -> Part {
                                 return {.step = std::make_unique<CenterCrop>(
                                             sides_of("center-crop", values))};
                               });

constexpr Parameter random_parameters[] = {{"size", Parameter::Type::whole, 1, 4096, {32}},
                                           given_height,
                                           given_width,
                                           {"pad", Parameter::Type::whole, 0, 1024, {0}}};
const PartKind random_crop_row(
    "random-crop",
    "Random crop, size x size or height x width, after padding with pad black pixels",
    PartStage::crop, random_parameters, [](const ParameterValues& values) -> Part {
      return {.step = std::make_unique<RandomCrop>(sides_of("random-crop", values),
                                                   values.whole("pad"))};
    });

constexpr Parameter flip_parameters[] = {{"share", Parameter::Type::number, 0, 1, {0.5}}};
const PartKind flip_row("flip", "Horizontal flip of this share of the images", PartStage::flip,
                        flip_parameters, [](const ParameterValues& values) -> Part {
                          return {.step = std::make_unique<Flip>(values.number("share"))};
                        });

const PartKind rgb_row("rgb", "RGB: grey images get three equal channels", PartStage::channels, {},
                       [](const ParameterValues&) -> Part {
                         return {.step = std::make_unique<Channels>("rgb", 3)};
                       });
const PartKind grey_row("grey", "Greyscale, as Pillow's mode L", PartStage::channels, {},
                        [](const ParameterValues&) -> Part {
                          return {.step = std::make_unique<Channels>("grey", 1)};
                        });

}  // namespace

extern const PartKind &random_resized_crop_part, &resize_part, &center_crop_part, &random_crop_part,
    &flip_part, &rgb_part, &grey_part;
const PartKind& random_resized_crop_part = random_resized_crop_row;
const PartKind& resize_part = resize_row;
const PartKind& center_crop_part = center_crop_row;
const PartKind& random_crop_part = random_crop_row;
const PartKind& flip_part = flip_row;
const PartKind& rgb_part = rgb_row;
const PartKind& grey_part = grey_row;

}  // namespace feedrate::loader
