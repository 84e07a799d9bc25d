#pragma once
// A recipe whose images cannot be decoded directly into their seats, to test the indirect path.

#include "loader/recipe.h"

namespace feedrate::testing {
using namespace formats;
using namespace loader;

class Mirroring final : public Recipe {
 public:
  Mirroring() : Recipe("mirroring", "for tests") {}
  Shape shape(Shape stored) const override { return stored; }
  View view(Shape stored, const SampleRandom&) const override {
    View view = whole_view(stored);
    view.mirrored = true;
    return view;
  }
};

}  // namespace feedrate::testing
