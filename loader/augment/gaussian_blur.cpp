#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "formats/base/error.h"
#include "loader/augment/tone_loops.h"
#include "loader/recipes/part.h"

namespace feedrate::loader {
using namespace formats;

namespace {

/// torchvision's GaussianBlur, edges reflected. It sums the products of both axes at once, so that a
/// sum that lies next to a half may be rounded to the other level.
class GaussianBlur final : public Operation {
 public:
  GaussianBlur(std::uint32_t height, std::uint32_t width, NumberRange sigma, double share)
      : height_(height), width_(width), sigma_(sigma), share_(share) {}

  Shape shape(Shape before) const override {
    if (!before.plausible() || (height_ / 2 < before.height && width_ / 2 < before.width))
      return before;
    throw Error(join("recipe gaussian-blur: a kernel of ", height_, " x ", width_,
                     " does not fit an image of ", before.height, " x ", before.width));
  }

  // The image, and a row between the passes, with what is reflected beside its edges.
  std::size_t scratch_bytes(Shape shape) const override {
    return floats_at(shape) + sizeof(float) * row_values(shape);
  }

  void apply(Canvas image, Draws& draws, std::span<std::uint8_t> scratch) const override {
    if (!draws.happens(share_)) return;
    const auto sigma =
        static_cast<double>(static_cast<float>(draws.uniform(sigma_.from, sigma_.to)));
    Weights down{}, across{};
    weigh(down, height_, sigma);
    weigh(across, width_, sigma);
    const Shape& shape = image.shape;
    const std::size_t values = std::size_t{shape.width} * shape.channels;
    const std::size_t margin = std::size_t{width_ / 2} * shape.channels;
    std::copy_n(image.pixels, shape.bytes(), scratch.data());
    auto* const row = reinterpret_cast<float*>(scratch.data() + floats_at(shape));
    std::array<const std::uint8_t*, most_taps> rows{};
    for (std::uint32_t y = 0; y < shape.height; ++y) {
      for (std::uint32_t tap = 0; tap < height_; ++tap) {
        const std::int64_t at = std::int64_t{y} + tap - height_ / 2;
        rows[tap] = scratch.data() + reflected(at, shape.height) * values;
      }
      tone_loops().weigh_rows({rows.data(), down.data(), height_}, values, row + margin);
      reflect(row + margin, shape);
      tone_loops().weigh_neighbours(row, {across.data(), width_, shape.channels}, values,
                                    image.pixels + y * values);
    }
  }

 private:
  static constexpr std::size_t most_taps = 255;
  using Weights = std::array<float, most_taps>;

  static std::size_t reflected(std::int64_t at, std::int64_t side) {
    const std::int64_t last = side - 1;
    return static_cast<std::size_t>(last - std::abs(last - std::abs(at)));
  }

  std::size_t row_values(Shape shape) const {
    return (std::size_t{shape.width} + width_ - 1) * shape.channels;
  }
  static std::size_t floats_at(Shape shape) { return round_up(shape.bytes(), cache_line); }

  void reflect(float* row, Shape shape) const {
    const auto channels = static_cast<std::ptrdiff_t>(shape.channels);
    const auto width = static_cast<std::ptrdiff_t>(shape.width);
    for (std::ptrdiff_t i = 1; i <= static_cast<std::ptrdiff_t>(width_ / 2); ++i) {
      std::copy_n(row + i * channels, channels, row - i * channels);
      std::copy_n(row + (width - 1 - i) * channels, channels, row + (width - 1 + i) * channels);
    }
  }

  // In 32 bits, as torchvision does.
  static void weigh(Weights& weights, std::uint32_t taps, double sigma) {
    const float half = static_cast<float>(taps - 1) * 0.5F;
    float sum = 0;
    for (std::uint32_t i = 0; i < taps; ++i) {
      const float place = (static_cast<float>(i) - half) / static_cast<float>(sigma);
      sum += weights[i] = std::exp(-0.5F * (place * place));
    }
    for (std::uint32_t i = 0; i < taps; ++i) weights[i] /= sum;
  }

  std::uint32_t height_, width_;
  NumberRange sigma_;
  double share_;
};

constexpr Parameter gaussian_blur_parameters[] = {
    {"size", Parameter::Type::whole, 1, 255, {23}},
    {"height", Parameter::Type::whole, 1, 255, {23}},
    {"width", Parameter::Type::whole, 1, 255, {23}},
    {"sigma", Parameter::Type::range, 0.001, 1000, {0.1, 2}},
    {"share", Parameter::Type::number, 0, 1, {1}},
};

const PartKind gaussian_blur_row(
    "gaussian-blur",
    "Gaussian blur by an odd kernel, size x size or height x width, and a random sigma",
    PartStage::pixels, gaussian_blur_parameters, [](const ParameterValues& values) -> Part {
      const auto taps = [&](const char* name) {
        const std::uint32_t count = values.whole(values.is_given(name) ? name : "size");
        if (count % 2 == 1) return count;
        throw Error(join("recipe gaussian-blur: expected an odd number of pixels, found ", count));
      };
      return {.operation = std::make_unique<GaussianBlur>(
                  taps("height"), taps("width"), values.range("sigma"), values.number("share"))};
    });

}  // namespace

extern const PartKind& gaussian_blur_part;
const PartKind& gaussian_blur_part = gaussian_blur_row;

}  // namespace feedrate::loader
