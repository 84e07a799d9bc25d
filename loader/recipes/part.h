#pragma once
// A part of a composed recipe, such as flip or color-jitter: what a name and its parameters make.

#include <memory>
#include <vector>

#include "loader/operation.h"
#include "loader/recipe.h"

namespace feedrate::loader {

/// In the order in which one pass over an image does them. A part of an earlier stage than the one
/// before it begins another pass, over the image made so far. Nothing stands behind a mix of batches.
enum class PartStage : std::uint8_t { resize, crop, flip, channels, pixels, batch };

/// A step of a view. Stateless; any thread.
class ViewStep {
 public:
  virtual ~ViewStep() = default;
  /// The shape of images that had the shape `before`. Throws Error when they are too small.
  virtual formats::Shape shape(formats::Shape before) const = 0;
  /// Changes the view of an image stored in that shape. Throws Error when it cannot.
  virtual void change(View& view, formats::Shape stored, Draws& draws) const = 0;
  /// See Recipe.
  virtual bool makes_grey() const { return false; }
  /// The recipe's part that evaluation has instead, as text; "": none.
  virtual std::string evaluation() const { return ""; }
  /// Whether evaluation leaves out what came before: this chooses what is seen at all.
  virtual bool begins_evaluation() const { return false; }
};

/// Makes one operation of some that stand behind it.
class Gatherer {
 public:
  virtual ~Gatherer() = default;
  virtual std::size_t parts() const = 0;
  virtual std::unique_ptr<const Operation> gathered(
      std::vector<std::unique_ptr<const Operation>> operations) const = 0;
};

/// One of the four.
struct Part {
  std::unique_ptr<const ViewStep> step{};
  std::unique_ptr<const Operation> operation{};
  std::unique_ptr<const Mixer> mixer{};
  std::unique_ptr<const Gatherer> gatherer{};
};

class PartKind : public formats::Kind {
 public:
  using Make = Part (*)(const ParameterValues& values);
  PartKind(std::string_view name, std::string_view summary, PartStage stage,
           std::span<const Parameter> parameters, Make maker)
      : Kind(name, summary), stage_(stage), parameters_(parameters), make_(maker) {}

  PartStage stage() const { return stage_; }
  std::span<const Parameter> parameters() const { return parameters_; }
  /// Throws Error when the values do not fit together.
  Part make(const ParameterValues& values) const { return make_(values); }

 private:
  PartStage stage_;
  std::span<const Parameter> parameters_;
  Make make_;
};

/// All parts, in the order of help.
std::span<const PartKind* const> recipe_parts();

}  // namespace feedrate::loader
