#include <algorithm>

#include "loader/augment/mixing.h"
#include "loader/pixels/half.h"
#include "loader/recipes/part.h"

namespace feedrate::loader {

namespace {

// torchvision's order: the partner's share first, each product and their sum rounded.
void mix_floats(float* own, const float* other, std::size_t count, double share) {
  const auto mine = static_cast<float>(share), rest = static_cast<float>(1 - share);
  for (std::size_t i = 0; i < count; ++i) own[i] = other[i] * rest + own[i] * mine;
}

void mix_halves(std::uint16_t* own, const std::uint16_t* other, std::size_t count, double share) {
  const auto mine = static_cast<float>(share), rest = static_cast<float>(1 - share);
  const auto rounded = [](float value) { return half_value(half_bits(value)); };
  for (std::size_t i = 0; i < count; ++i)
    own[i] = half_bits(rounded(half_value(other[i]) * rest) + rounded(half_value(own[i]) * mine));
}

// To the nearest of 0 … 255; torchvision mixes numbers only.
void mix_pixels(std::uint8_t* own, const std::uint8_t* other, std::size_t count, double share) {
  const auto mine = static_cast<float>(share), rest = static_cast<float>(1 - share);
  for (std::size_t i = 0; i < count; ++i) {
    own[i] = static_cast<std::uint8_t>(static_cast<float>(other[i]) * rest +
                                       static_cast<float>(own[i]) * mine + 0.5F);
  }
}

/// torchvision's MixUp.
class Mixup final : public Mixer {
 public:
  explicit Mixup(double alpha) : alpha_(alpha) {}

  double mix(const Batch& batch, Draws& draws, std::span<std::byte> scratch) const override {
    const double share = draws.beta(alpha_);
    const std::size_t values = batch.shape.bytes();
    each_with_partner(batch, scratch, [&](std::byte* own, const std::byte* other) {
      if (batch.type == PixelType::f32) {
        mix_floats(reinterpret_cast<float*>(own), reinterpret_cast<const float*>(other), values,
                   share);
      } else if (batch.type == PixelType::f16) {
        mix_halves(reinterpret_cast<std::uint16_t*>(own),
                   reinterpret_cast<const std::uint16_t*>(other), values, share);
      } else {
        mix_pixels(reinterpret_cast<std::uint8_t*>(own),
                   reinterpret_cast<const std::uint8_t*>(other), values, share);
      }
    });
    return share;
  }

 private:
  double alpha_;
};

constexpr Parameter mixup_parameters[] = {{"alpha", Parameter::Type::number, 0.01, 100, {1}}};

const PartKind mixup_row("mixup", "MixUp: each image blended with another of the batch",
                         PartStage::batch, mixup_parameters,
                         [](const ParameterValues& values) -> Part {
                           return {.mixer = std::make_unique<Mixup>(values.number("alpha"))};
                         });

}  // namespace

extern const PartKind& mixup_part;
const PartKind& mixup_part = mixup_row;

}  // namespace feedrate::loader
