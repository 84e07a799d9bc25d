#pragma once
// The mean image of a dataset, and the mean and deviation of each channel. Sums are integers,
// divided once at the end: any order of adding and any number of threads give the same bits.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "formats/base/sweep.h"
#include "formats/dataset.h"

namespace feedrate::formats {

/// Limit on the values of a mean image; no sums are kept for larger images.
inline constexpr std::uint64_t max_mean_values = std::uint64_t{1} << 25;

struct DatasetMeans {
  std::uint64_t images = 0;
  std::uint32_t channels = 0;           // 1, or 3 when any image is RGB: grey is R = G = B then
  std::array<double, 3> mean{};         // of all pixels, for each channel (R, G, B), 0 … 255
  std::array<double, 3> deviation{};    // of the population: sqrt(E[x²] - E[x]²)
  std::optional<MeanImage> mean_image;  // when all images have the same height and width
};

/// The mean of each channel of a mean image; 0 for channels that it lacks.
std::array<double, 3> channel_means(const MeanImage& mean);

/// Exact sums over images. One thread.
class MeanSums {
 public:
  void add(const ImageView& image);
  /// Adds the sums of `other`, as if its images had been added here.
  void merge(const MeanSums& other);
  DatasetMeans means() const;

 private:
  // Of grey images, or of one channel of RGB images.
  struct Channel {
    std::uint64_t sum = 0;
    std::uint64_t squares = 0;  // holds 2.8e14 pixels of 255
  };
  enum class Size : std::uint8_t { none, one, several };

  void meet(std::uint32_t height, std::uint32_t width);
  void forget_size();
  std::optional<MeanImage> mean_image(std::uint32_t channels) const;

  std::uint64_t images_ = 0;
  std::uint64_t grey_pixels_ = 0, color_pixels_ = 0;
  Channel grey_;
  std::array<Channel, 3> color_;
  Size size_ = Size::none;
  std::uint32_t height_ = 0, width_ = 0;               // where size_ is `one`
  std::vector<std::uint64_t> grey_sums_, color_sums_;  // per pixel, HW and HWC; empty when unused
};

/// Reads and decodes every sample in at most `threads` (≥ 1) threads. Throws Error on damage.
DatasetMeans dataset_means(const Dataset& dataset, unsigned threads,
                           const ProgressCallback& progress = {});

}  // namespace feedrate::formats
