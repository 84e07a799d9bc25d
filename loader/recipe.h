#pragma once
// A recipe turns an encoded sample into the pixels of a batch: crop, resize and flip in one pass.

#include <span>

#include "formats/dataset.h"
#include "loader/batch.h"
#include "loader/random.h"

namespace feedrate {

/// Stateless; any thread.
class Recipe : public Kind {
 public:
  using Kind::Kind;
  /// Shape of every image it gives, for a dataset whose first sample has `stored`. Throws Error
  /// when the recipe does not suit it.
  virtual Shape shape(Shape stored) const = 0;
  /// True when decode() may write straight into the seat and augment() has nothing to do.
  virtual bool in_place() const = 0;
  /// `decoded` (sample.shape) → `seat` (shape()). Only called when !in_place().
  virtual void augment(const ImageView& decoded, const SampleRandom& random, Shape shape,
                       MutableBytes seat) const = 0;
};

std::span<const Recipe* const> recipes();
const Recipe& recipe(std::string_view name);

}  // namespace feedrate
