#pragma once
// A recipe says what part of a stored image goes into a batch, and how: crop, resize and flip,
// expressed as a View. The loader's Renderer executes the view. What cannot be told by one view, such
// as a crop of a turned image, is a chain of recipes: each works on what the one before it made.

#include <memory>
#include <span>

#include "formats/dataset.h"
#include "loader/batch.h"
#include "loader/operation.h"
#include "loader/order/sample_draws.h"
#include "loader/pixels/view.h"
#include "loader/recipe_parameters.h"

namespace feedrate::loader {

/// Stateless; any thread.
class Recipe : public formats::Kind {
 public:
  using formats::Kind::Kind;
  /// The shape of every image in a batch, for a dataset whose first image has the shape
  /// `stored`. Throws Error when the recipe cannot be used on such images.
  virtual formats::Shape shape(formats::Shape stored) const = 0;
  /// What is then done to the image that the view and the operations made; null: nothing.
  virtual const Recipe* then() const { return nullptr; }
  /// How many channels the view's image has, before then().
  virtual std::uint32_t channels(formats::Shape stored) const { return shape(stored).channels; }
  /// What is done to one image: a pure function of its shape and the sample's random draws. The
  /// loader reports an Error when the view's size differs from shape().
  virtual View view(formats::Shape stored, const SampleRandom& random) const = 0;
  /// The numbers that a user may change: "imagenet-train:size=160".
  virtual std::span<const Parameter> parameters() const { return {}; }
  /// This recipe with other values of its parameters; null where it has none. `name` outlives it.
  /// Throws Error where the values do not fit together.
  virtual std::unique_ptr<const Recipe> with(std::string_view name,
                                             const ParameterValues& values) const {
    static_cast<void>(name), static_cast<void>(values);
    return nullptr;
  }
  /// Whether images of colour become grey. Grey ones become colours wherever shape() says so.
  virtual bool makes_grey() const { return false; }
  /// What is then done to its pixels, in this order.
  virtual std::span<const std::unique_ptr<const Operation>> operations() const { return {}; }
  /// Mixes of whole batches, behind then(): for each batch, one of them is drawn.
  virtual std::span<const std::unique_ptr<const Mixer>> mixers() const { return {}; }
  /// The recipe for evaluating a network that was trained with this one.
  virtual const Recipe& evaluation() const { return *this; }
  /// Whether networks are trained with it, so that its images usually come in random order.
  virtual bool trains() const { return &evaluation() != this; }
};

/// Whether a recipe does more than to show a view of the stored image.
inline bool works_on_pixels(const Recipe& recipe) {
  return !recipe.operations().empty() || !recipe.mixers().empty() || recipe.then() != nullptr;
}

/// All recipes, in the order of help.
std::span<const Recipe* const> recipes();
/// The recipe that `text` names: "mnist", "imagenet-train:size=160", "imagenet-train+mixup". Throws
/// Error with the nearest name when there is none, and for what is no such parameter or value.
const Recipe& recipe(std::string_view text);

}  // namespace feedrate::loader
