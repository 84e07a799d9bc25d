#pragma once
// A recipe that does not work in place, for tests of that way through the loader.

#include "loader/recipe.h"

namespace feedrate::testing {

class Inverting final : public Recipe {
 public:
  Inverting() : Recipe("inverting", "for tests") {}
  Shape shape(Shape stored) const override { return stored; }
  bool in_place() const override { return false; }
  void augment(const ImageView& decoded, const SampleRandom&, Shape,
               MutableBytes seat) const override {
    for (std::size_t i = 0; i < seat.size(); ++i) seat[i] = ~decoded.pixels[i];
  }
};

}  // namespace feedrate::testing
