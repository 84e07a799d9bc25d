#include "loader/augment/tones.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "formats/pixels/planes.h"
#include "loader/augment/tone_loops.h"

namespace feedrate::loader {

namespace {

/// Which value each value of a channel becomes.
using Curve = std::array<std::uint8_t, 256>;
using Histogram = std::array<std::uint64_t, 256>;

template <class Make>
Curve curve_of(Make make) {
  Curve curve{};
  for (std::size_t value = 0; value < curve.size(); ++value)
    curve[value] = make(static_cast<std::uint8_t>(value));
  return curve;
}

const Curve identity = curve_of([](std::uint8_t value) { return value; });

// A curve for each channel, made from the channel's histogram.
template <std::size_t Channels, class Make>
void apply_curves(Canvas image, Make make) {
  std::uint8_t* const pixels = image.pixels;
  const std::size_t size = image.shape.bytes();
  // Neighbours are often alike. With two histograms, counting one does not wait for the other.
  std::array<std::array<Histogram, Channels>, 2> counts{};
  for (std::size_t at = 0, side = 0; at < size; at += Channels, side ^= 1) {
    for (std::size_t c = 0; c < Channels; ++c) ++counts[side][c][pixels[at + c]];
  }
  std::array<Curve, Channels> curves;
  for (std::size_t c = 0; c < Channels; ++c) {
    Histogram& all = counts[0][c];
    for (std::size_t value = 0; value < all.size(); ++value) all[value] += counts[1][c][value];
    curves[c] = make(all);
  }
  for (std::size_t at = 0; at < size; at += Channels) {
    for (std::size_t c = 0; c < Channels; ++c) pixels[at + c] = curves[c][pixels[at + c]];
  }
}

template <class Make>
void apply_by_histogram(Canvas image, Make make) {
  image.shape.channels == 3 ? apply_curves<3>(image, make) : apply_curves<1>(image, make);
}

std::size_t pixels_of(Canvas image) { return std::size_t{image.shape.height} * image.shape.width; }

// The planes of some pixels of a colour image at a time, which stay in the core's cache.
class Block {
 public:
  static constexpr std::size_t most = 2048;

  ColourPlanes take(const std::uint8_t* pixels, std::size_t count) {
    formats::plane_separator()(reinterpret_cast<const std::byte*>(pixels), count, at(0), at(1),
                               at(2));
    return {planes_[0].data(), planes_[1].data(), planes_[2].data(), count};
  }
  void give_back(std::uint8_t* pixels, std::size_t count) {
    formats::plane_interleaver()(at(0), at(1), at(2), count, reinterpret_cast<std::byte*>(pixels));
  }

 private:
  std::byte* at(std::size_t colour) { return reinterpret_cast<std::byte*>(planes_[colour].data()); }

  std::array<std::array<std::uint8_t, most>, 3> planes_;
};

template <class Change>
void change_planes(Canvas image, Change change) {
  Block block;
  const std::size_t pixels = pixels_of(image);
  for (std::size_t first = 0; first < pixels; first += Block::most) {
    const std::size_t count = std::min(Block::most, pixels - first);
    change(block.take(image.pixels + 3 * first, count));
    block.give_back(image.pixels + 3 * first, count);
  }
}

std::uint64_t sum_of_lumas(Canvas image) {
  const std::size_t pixels = pixels_of(image);
  std::uint64_t sum = 0;
  if (image.shape.channels != 3) {
    for (const std::uint8_t value : image.all()) sum += value;
    return sum;
  }
  Block block;
  for (std::size_t first = 0; first < pixels; first += Block::most) {
    const std::size_t count = std::min(Block::most, pixels - first);
    sum += static_cast<std::uint64_t>(
        tone_loops().sum_of_lumas(block.take(image.pixels + 3 * first, count)));
  }
  return sum;
}

// The mean luma, rounded as ImageEnhance.Contrast rounds it.
std::uint8_t mean_luma(Canvas image) {
  const double mean =
      static_cast<double>(sum_of_lumas(image)) / static_cast<double>(pixels_of(image));
  return static_cast<std::uint8_t>(mean + 0.5);
}

}  // namespace

void adjust_brightness(Canvas image, float factor) {
  tone_loops().blend_all(image.all(), 0, factor);
}

void adjust_contrast(Canvas image, float factor) {
  tone_loops().blend_all(image.all(), mean_luma(image), factor);
}

void adjust_saturation(Canvas image, float factor) {
  if (image.shape.channels != 3) return;
  change_planes(image, [&](const ColourPlanes& pixels) { tone_loops().saturate(pixels, factor); });
}

void adjust_hue(Canvas image, double turn) {
  if (image.shape.channels != 3) return;
  // As torchvision: towards zero, then modulo 256.
  const auto by = static_cast<std::uint8_t>(static_cast<int>(turn * 255));
  change_planes(image, [&](const ColourPlanes& pixels) { tone_loops().turn_hues(pixels, by); });
}

void posterize(Canvas image, int bits) {
  const auto mask = static_cast<std::uint8_t>(0xff00U >> bits);
  for (std::uint8_t& value : image.all()) value &= mask;
}

void solarize(Canvas image, double threshold) {
  const auto first = static_cast<int>(std::ceil(threshold));
  for (std::uint8_t& value : image.all())
    value = static_cast<std::uint8_t>(value < first ? value : 255 - value);
}

void autocontrast(Canvas image) {
  apply_by_histogram(image, [](const Histogram& histogram) {
    const auto present = [](std::uint64_t count) { return count > 0; };
    const auto low = std::ranges::find_if(histogram, present) - histogram.begin();
    const auto high =
        histogram.rend() - std::find_if(histogram.rbegin(), histogram.rend(), present) - 1;
    if (high <= low) return identity;
    const double scale = 255.0 / static_cast<double>(high - low);
    const double offset = static_cast<double>(-low) * scale;
    return curve_of([&](std::uint8_t value) {
      return static_cast<std::uint8_t>(std::clamp(value * scale + offset, 0.0, 255.0));
    });
  });
}

void equalize(Canvas image) {
  apply_by_histogram(image, [](const Histogram& histogram) {
    std::uint64_t sum = 0, last = 0, values = 0;
    for (const std::uint64_t count : histogram) {
      sum += count;
      if (count > 0) last = count, ++values;
    }
    const std::uint64_t step = (sum - last) / 255;
    if (values < 2 || step == 0) return identity;
    std::uint64_t before = step / 2;
    return curve_of([&](std::uint8_t value) {
      const auto level = std::min<std::uint64_t>(255, before / step);
      before += histogram[value];
      return static_cast<std::uint8_t>(level);
    });
  });
}

}  // namespace feedrate::loader
