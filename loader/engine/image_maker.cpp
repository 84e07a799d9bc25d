#include "loader/engine/image_maker.h"

#include <algorithm>

#include "formats/base/error.h"

namespace feedrate::loader::detail {
using namespace formats;

namespace {

std::string size_text(Shape shape) {
  return join(shape.height, " x ", shape.width, " x ", shape.channels);
}

Shape operated(const Recipe& pass, Shape shape) {
  for (const auto& operation : pass.operations()) shape = operation->shape(shape);
  return shape;
}

}  // namespace

void ImageMaker::check(const Recipe& pass, const View& view, Shape before) const {
  const bool fits = before.channels == 1 || pass.makes_grey();
  const Shape made = operated(
      pass, {view.window.height, view.window.width, fits ? shape_.channels : before.channels});
  if (pass.then() == nullptr && made != shape_) {
    throw Error(join("expected ", size_text(shape_), " pixels as in the first image, found ",
                     size_text(made), "; recipe ", recipe_.name(), " needs images of one size",
                     made.channels != shape_.channels ? ", or its part rgb or grey" : ""));
  }
  check_view(view, before);
}

void ImageMaker::make(const DecodedPart& part, const SampleRandom& random, MutableBytes image) {
  const Recipe* pass = &recipe_;
  View view = part.view;
  Shape before = part.stored;
  PixelRows pixels = part.pixels;
  for (std::uint32_t number = 0;; ++number) {
    const bool last = pass->then() == nullptr;
    const Shape seen{view.window.height, view.window.width,
                     last ? shape_.channels : pass->channels(before)};
    const MutableBytes made = last ? image : between(number % 2, *pass, seen);
    renderer_.render(view, before, pixels, seen.channels, made.first(seen.bytes()),
                     number == 0 ? part.shrunk : 1);
    before = operate(*pass, random.of_stage(number),
                     {reinterpret_cast<std::uint8_t*>(made.data()), seen});
    if (last) return;
    pass = pass->then();
    view = pass->view(before, random.of_stage(number + 1));
    check(*pass, view, before);
    pixels = rows_of_part(made.data(), before, needed_part(view, before));
  }
}

// Memory for what a pass makes: its operations may enlarge an image.
MutableBytes ImageMaker::between(std::size_t number, const Recipe& pass, Shape shape) {
  return grown(between_[number], operated(pass, shape).bytes());
}

Shape ImageMaker::operate(const Recipe& pass, const SampleRandom& random, Canvas canvas) {
  std::uint32_t part = 0;
  for (const auto& operation : pass.operations()) {
    Draws draws(random, ++part * draws_of_a_part);
    const MutableBytes scratch = grown(scratch_, operation->scratch_bytes(canvas.shape));
    operation->apply(canvas, draws,
                     {reinterpret_cast<std::uint8_t*>(scratch.data()), scratch.size()});
    canvas.shape = operation->shape(canvas.shape);
  }
  return canvas.shape;
}

}  // namespace feedrate::loader::detail
