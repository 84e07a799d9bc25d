#pragma once
// A recipe says what part of a stored image goes into a batch, and how: crop, resize and flip,
// expressed as a View. The loader's Renderer executes the view.

#include <memory>
#include <span>

#include "formats/dataset.h"
#include "loader/batch.h"
#include "loader/operation.h"
#include "loader/order/random.h"
#include "loader/pixels/view.h"

namespace feedrate::loader {

/// Stateless; any thread.
class Recipe : public formats::Kind {
 public:
  using formats::Kind::Kind;
  /// The shape of every image in a batch, for a dataset whose first image has the shape
  /// `stored`. Throws Error when the recipe cannot be used on such images.
  virtual formats::Shape shape(formats::Shape stored) const = 0;
  /// What is done to one image: a pure function of its shape and the sample's random draws. The
  /// loader reports an Error when the view's size differs from shape().
  virtual View view(formats::Shape stored, const SampleRandom& random) const = 0;
  /// What is then done to its pixels, in this order.
  virtual std::span<const std::unique_ptr<const Operation>> operations() const { return {}; }
  /// Of these, each batch undergoes one, drawn by lot.
  virtual std::span<const std::unique_ptr<const Mixer>> mixers() const { return {}; }
  /// The recipe for evaluating a network that was trained with this one.
  virtual const Recipe& evaluation() const { return *this; }
};

/// All recipes, in the order of help.
std::span<const Recipe* const> recipes();
/// The recipe of that name. Throws Error with the nearest name when there is none.
const Recipe& recipe(std::string_view name);

}  // namespace feedrate::loader
