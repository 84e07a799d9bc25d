#pragma once
// Makes the image of a batch from the pixels that were decoded for it: the view, the operations, and
// every further pass of the recipe. One thread for each; it keeps its memory, so that images no
// larger than those before allocate nothing.

#include <array>

#include "loader/pixels/render.h"
#include "loader/recipe.h"

namespace feedrate::loader::detail {

/// What the first view of a recipe needs of an image, decoded at 1/`shrunk` of its size.
struct DecodedPart {
  const View& view;
  formats::Shape stored;
  formats::PixelRows pixels;
  std::uint32_t shrunk;
};

class ImageMaker {
 public:
  /// `recipe` outlives it. `shape` is that of every image of a batch.
  ImageMaker(const Recipe& recipe, formats::Shape shape) : recipe_(recipe), shape_(shape) {}

  /// Throws Error unless the first view suits the stored image and, where there is no other pass,
  /// gives an image of the shape.
  void check(const View& view, formats::Shape stored) const { check(recipe_, view, stored); }
  /// Fills `image`. Throws Error where a later pass does not suit what the one before it made.
  void make(const DecodedPart& part, const SampleRandom& random, formats::MutableBytes image);
  /// Only the operations of the first pass, in place.
  void operate(const SampleRandom& random, formats::MutableBytes image) {
    operate(recipe_, random, {reinterpret_cast<std::uint8_t*>(image.data()), shape_});
  }

 private:
  void check(const Recipe& pass, const View& view, formats::Shape before) const;
  formats::Shape operate(const Recipe& pass, const SampleRandom& random, Canvas canvas);
  formats::MutableBytes between(std::size_t number, const Recipe& pass, formats::Shape shape);

  const Recipe& recipe_;
  formats::Shape shape_;
  Renderer renderer_;
  std::array<formats::Buffer, 2> between_;  // what one pass made, and what the next makes of it
  formats::Buffer scratch_;                 // of an operation
};

}  // namespace feedrate::loader::detail
