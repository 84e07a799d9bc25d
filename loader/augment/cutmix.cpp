#include <algorithm>
#include <cmath>

#include "loader/augment/mixing.h"
#include "loader/recipes/part.h"

namespace feedrate::loader {

namespace {

/// From `begin` to `end`, exclusive.
struct Side {
  std::size_t begin, end;
  std::size_t length() const { return end - begin; }
};

/// torchvision's CutMix: a rectangle comes from the partner.
class Cutmix final : public Mixer {
 public:
  explicit Cutmix(double alpha) : alpha_(alpha) {}

  double mix(const Batch& batch, Draws& draws, std::span<std::byte> scratch) const override {
    const double wanted = draws.beta(alpha_);
    const double half = 0.5 * std::sqrt(1.0 - wanted);
    const auto side = [&](std::uint32_t length) {
      const auto centre = static_cast<std::int64_t>(draws.below(length));
      const auto reach = static_cast<std::int64_t>(half * length);
      return Side{static_cast<std::size_t>(std::max<std::int64_t>(0, centre - reach)),
                  static_cast<std::size_t>(std::min<std::int64_t>(length, centre + reach))};
    };
    const Side across = side(batch.shape.width), down = side(batch.shape.height);
    each_with_partner(batch, scratch, [&](std::byte* own, const std::byte* other) {
      copy(batch, across, down, own, other);
    });
    const double area = static_cast<double>(batch.shape.width) * batch.shape.height;
    return 1.0 - static_cast<double>(across.length() * down.length()) / area;
  }

 private:
  static void copy(const Batch& batch, Side across, Side down, std::byte* own,
                   const std::byte* other) {
    const bool planes = batch.layout == PixelLayout::planar;
    const std::size_t channels = batch.shape.channels, value = bytes_of(batch.type);
    const std::size_t pixel = planes ? value : value * channels;
    const std::size_t row = batch.shape.width * pixel, plane = batch.shape.height * row;
    for (std::size_t channel = 0; channel < (planes ? channels : 1); ++channel) {
      for (std::size_t y = down.begin; y < down.end; ++y) {
        const std::size_t at = channel * plane + y * row + across.begin * pixel;
        std::copy_n(other + at, across.length() * pixel, own + at);
      }
    }
  }

  double alpha_;
};

constexpr Parameter cutmix_parameters[] = {{"alpha", Parameter::Type::number, 0.01, 100, {1}}};

const PartKind cutmix_row(
    "cutmix", "CutMix: a rectangle of each image replaced by one of another image in the batch",
    PartStage::batch, cutmix_parameters, [](const ParameterValues& values) -> Part {
      return {.mixer = std::make_unique<Cutmix>(values.number("alpha"))};
    });

}  // namespace

extern const PartKind& cutmix_part;
const PartKind& cutmix_part = cutmix_row;

}  // namespace feedrate::loader
