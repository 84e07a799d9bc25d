#include "loader/augment/tones.h"

#include <algorithm>
#include <cmath>

namespace feedrate::loader {

namespace {

using Histogram = std::array<std::uint64_t, 256>;

template <class Make>
Curve curve_of(Make make) {
  Curve curve{};
  for (std::size_t value = 0; value < curve.size(); ++value)
    curve[value] = make(static_cast<std::uint8_t>(value));
  return curve;
}

// A curve for each channel, made from the channel's histogram.
template <class Make>
void apply_by_histogram(Canvas image, Make make) {
  const std::size_t channels = image.shape.channels, size = image.shape.bytes();
  for (std::size_t channel = 0; channel < channels; ++channel) {
    Histogram histogram{};
    for (std::size_t i = channel; i < size; i += channels) ++histogram[image.pixels[i]];
    const Curve curve = make(histogram);
    for (std::size_t i = channel; i < size; i += channels) image.pixels[i] = curve[image.pixels[i]];
  }
}

const Curve identity = curve_of([](std::uint8_t value) { return value; });

// ITU-R 601-2 luma, as Pillow rounds it.
std::uint8_t luma(const std::uint8_t* pixel) {
  return static_cast<std::uint8_t>(
      (pixel[0] * 19595U + pixel[1] * 38470U + pixel[2] * 7471U + 0x8000U) >> 16);
}

// The mean luma, rounded as ImageEnhance.Contrast rounds it.
std::uint8_t mean_luma(Canvas image) {
  const std::size_t pixels = std::size_t{image.shape.height} * image.shape.width;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < pixels; ++i)
    sum += image.shape.channels == 3 ? luma(image.pixels + 3 * i) : image.pixels[i];
  return static_cast<std::uint8_t>(static_cast<double>(sum) / static_cast<double>(pixels) + 0.5);
}

}  // namespace

void apply(const Curve& curve, std::span<std::uint8_t> values) {
  for (std::uint8_t& value : values) value = curve[value];
}

std::uint8_t blend(std::uint8_t from, std::uint8_t to, float factor) {
  const float mixed = static_cast<float>(from) + factor * static_cast<float>(to - from);
  return static_cast<std::uint8_t>(std::clamp(mixed, 0.0F, 255.0F));
}

void adjust_brightness(Canvas image, float factor) {
  apply(curve_of([&](std::uint8_t value) { return blend(0, value, factor); }), image.all());
}

void adjust_contrast(Canvas image, float factor) {
  const std::uint8_t mean = mean_luma(image);
  apply(curve_of([&](std::uint8_t value) { return blend(mean, value, factor); }), image.all());
}

void adjust_saturation(Canvas image, float factor) {
  if (image.shape.channels != 3) return;
  const std::size_t size = image.shape.bytes();
  for (std::uint8_t* pixel = image.pixels; pixel != image.pixels + size; pixel += 3) {
    const std::uint8_t grey = luma(pixel);
    for (std::size_t c = 0; c < 3; ++c) pixel[c] = blend(grey, pixel[c], factor);
  }
}

void posterize(Canvas image, int bits) {
  const auto mask = static_cast<std::uint8_t>(0xff00U >> bits);
  apply(curve_of([&](std::uint8_t value) { return static_cast<std::uint8_t>(value & mask); }),
        image.all());
}

void solarize(Canvas image, double threshold) {
  apply(curve_of([&](std::uint8_t value) {
          return static_cast<std::uint8_t>(value < threshold ? value : 255 - value);
        }),
        image.all());
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
