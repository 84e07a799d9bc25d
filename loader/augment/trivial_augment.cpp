#include "loader/augment/rand_augment.h"
#include "loader/recipes/part.h"

namespace feedrate::loader {

namespace {

/// torchvision's TrivialAugmentWide: one of the changes of RandAugment, of a random strength.
class TrivialAugment final : public Operation {
 public:
  TrivialAugment(std::uint32_t bins, Taking taking) : bins_(bins), taking_(taking) {}

  std::size_t scratch_bytes(formats::Shape shape) const override { return shape.bytes(); }

  void apply(Canvas image, Draws& draws, std::span<std::uint8_t> scratch) const override {
    const auto change = static_cast<Change>(draws.below(changes));
    const std::uint32_t magnitude = draws.below(bins_);
    const double size = size_of(change, wide_ranges(bins_), magnitude);
    change_image(change, has_sign(change) && draws.below(2) == 1 ? -size : size, image, scratch,
                 taking_);
  }

 private:
  std::uint32_t bins_;
  Taking taking_;
};

constexpr Parameter trivial_augment_parameters[] = {
    {"bins", Parameter::Type::whole, 2, 100, {31}},
    nearness_parameter,
    colour_value,
    colour_green,
    colour_blue,
};

const PartKind trivial_augment_row(
    "trivial-augment",
    "TrivialAugment: one of 14 colour and geometric operations, at random strength",
    PartStage::pixels, trivial_augment_parameters, [](const ParameterValues& values) -> Part {
      return {.operation =
                  std::make_unique<TrivialAugment>(values.whole("bins"), taking_of(values))};
    });

}  // namespace

extern const PartKind& trivial_augment_part;
const PartKind& trivial_augment_part = trivial_augment_row;

}  // namespace feedrate::loader
