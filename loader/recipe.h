#pragma once
// A recipe says what of a stored image goes into a batch: crop, resize and flip, as a view. What
// executes the view is the loader's Renderer.

#include <span>

#include "formats/dataset.h"
#include "loader/batch.h"
#include "loader/order/random.h"
#include "loader/pixels/view.h"

namespace feedrate::loader {

/// Stateless; any thread.
class Recipe : public formats::Kind {
 public:
  using formats::Kind::Kind;
  /// Shape of every image it gives, for a dataset whose first sample has `stored`. Throws Error
  /// when the recipe does not suit it.
  virtual formats::Shape shape(formats::Shape stored) const = 0;
  /// What becomes of one image: a pure function of its shape and the sample's draws. Of another
  /// size than shape() says where an image does not suit the batch, which is then an Error.
  virtual View view(formats::Shape stored, const SampleRandom& random) const = 0;
  /// The recipe that accuracy is measured with when this one was trained with.
  virtual const Recipe& evaluation() const { return *this; }
};

std::span<const Recipe* const> recipes();
const Recipe& recipe(std::string_view name);

}  // namespace feedrate::loader
