#include <algorithm>
#include <utility>

#include "formats/base/error.h"
#include "loader/recipes/part.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using Operations = std::vector<std::unique_ptr<const Operation>>;

/// torchvision's RandomApply: all of some operations, or none.
class Sometimes final : public Operation {
 public:
  Sometimes(double share, Operations operations)
      : share_(share), operations_(std::move(operations)) {}

  Shape shape(Shape before) const override {
    for (const auto& operation : operations_) {
      if (operation->shape(before) != before)
        throw Error(
            "recipe apply: a part that changes the size of images cannot be left to chance");
    }
    return before;
  }
  std::size_t scratch_bytes(Shape shape) const override {
    std::size_t most = 0;
    for (const auto& operation : operations_)
      most = std::max(most, operation->scratch_bytes(shape));
    return most;
  }
  void apply(Canvas image, Draws& draws, std::span<std::uint8_t> scratch) const override {
    if (!draws.happens(share_)) return;
    for (const auto& operation : operations_) operation->apply(image, draws, scratch);
  }

 private:
  double share_;
  Operations operations_;
};

class Apply final : public Gatherer {
 public:
  Apply(std::size_t parts, double share) : parts_(parts), share_(share) {}
  std::size_t parts() const override { return parts_; }
  std::unique_ptr<const Operation> gathered(Operations operations) const override {
    return std::make_unique<Sometimes>(share_, std::move(operations));
  }

 private:
  std::size_t parts_;
  double share_;
};

constexpr Parameter apply_parameters[] = {
    {"share", Parameter::Type::number, 0, 1, {0.5}},
    {"parts", Parameter::Type::whole, 1, 64, {1}},
};

const PartKind apply_row("apply", "RandomApply: the next parts, for this share of the images",
                         PartStage::pixels, apply_parameters,
                         [](const ParameterValues& values) -> Part {
                           return {.gatherer = std::make_unique<Apply>(values.whole("parts"),
                                                                       values.number("share"))};
                         });

}  // namespace

extern const PartKind& apply_part;
const PartKind& apply_part = apply_row;

}  // namespace feedrate::loader
