#include "formats/means/mean.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "formats/base/error.h"

namespace feedrate::formats {
namespace {

// Interleaved channels are added in lanes. Their number is a multiple of 1 and 3 channels and of
// the size of a vector register. The second number is how many pixels' squares a 32-bit lane holds:
// 66,000 · 255² < 2^32.
constexpr std::size_t lanes = 48;
constexpr std::size_t max_rounds = 66'000;

struct Lanes {
  std::array<std::uint32_t, lanes> sum{};
  std::array<std::uint32_t, lanes> squares{};

  void add(Bytes pixels) {
    const std::size_t whole = pixels.size() / lanes * lanes;
    for (std::size_t at = 0; at < whole; at += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane) add(lane, pixels[at + lane]);
    }
    for (std::size_t at = whole; at < pixels.size(); ++at) add(at - whole, pixels[at]);
  }

 private:
  void add(std::size_t lane, std::byte pixel) {
    const auto value = std::to_integer<std::uint32_t>(pixel);
    sum[lane] += value;
    squares[lane] += value * value;
  }
};

void add_pixels(std::vector<std::uint64_t>& sums, Bytes pixels) {
  sums.resize(pixels.size());
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    sums[i] += std::to_integer<std::uint64_t>(pixels[i]);
  }
}

void add_sums(std::vector<std::uint64_t>& to, const std::vector<std::uint64_t>& from) {
  to.resize(std::max(to.size(), from.size()));
  for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
}

}  // namespace

std::array<double, 3> channel_means(const MeanImage& mean) {
  std::array<double, 3> sums{};
  const std::size_t channels = mean.shape.channels;
  for (std::size_t i = 0; i < mean.values.size(); ++i) sums[i % channels] += mean.values[i];
  for (double& sum : sums) sum /= static_cast<double>(mean.values.size() / channels);
  return sums;
}

void MeanSums::meet(std::uint32_t height, std::uint32_t width) {
  const bool first = size_ == Size::none;
  const bool fits = std::uint64_t{height} * width * 3 <= max_mean_values;
  if (fits && (first || (size_ == Size::one && height == height_ && width == width_))) {
    size_ = Size::one;
    height_ = height;
    width_ = width;
  } else {
    forget_size();
  }
}

void MeanSums::forget_size() {
  size_ = Size::several;
  grey_sums_ = {};
  color_sums_ = {};
}

void MeanSums::add(const ImageView& image) {
  const std::uint32_t channels = image.shape.channels;
  assert(channels == 1 || channels == 3);
  meet(image.shape.height, image.shape.width);
  ++images_;
  const bool color = channels == 3;
  (color ? color_pixels_ : grey_pixels_) += image.pixels.size() / channels;
  Channel* const totals = color ? color_.data() : &grey_;
  for (Bytes rest = image.pixels; !rest.empty();) {
    const Bytes part = rest.first(std::min(rest.size(), lanes * max_rounds));
    Lanes sums;
    sums.add(part);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      totals[lane % channels].sum += sums.sum[lane];
      totals[lane % channels].squares += sums.squares[lane];
    }
    rest = rest.subspan(part.size());
  }
  if (size_ == Size::one) add_pixels(color ? color_sums_ : grey_sums_, image.pixels);
}

void MeanSums::merge(const MeanSums& other) {
  if (other.images_ == 0) return;
  if (other.size_ == Size::one) {
    meet(other.height_, other.width_);
  } else {
    forget_size();
  }
  if (size_ == Size::one) {
    add_sums(grey_sums_, other.grey_sums_);
    add_sums(color_sums_, other.color_sums_);
  }
  images_ += other.images_;
  grey_pixels_ += other.grey_pixels_;
  color_pixels_ += other.color_pixels_;
  grey_.sum += other.grey_.sum;
  grey_.squares += other.grey_.squares;
  for (std::size_t c = 0; c < color_.size(); ++c) {
    color_[c].sum += other.color_[c].sum;
    color_[c].squares += other.color_[c].squares;
  }
}

DatasetMeans MeanSums::means() const {
  DatasetMeans result;
  result.images = images_;
  if (images_ == 0) return result;
  result.channels = color_pixels_ > 0 ? 3 : 1;
  using Wide = unsigned __int128;  // n · squares and sum² of 2.8e14 pixels have 112 bits
  const Wide count = Wide{grey_pixels_} + color_pixels_;
  for (std::size_t c = 0; c < result.channels; ++c) {
    const Wide sum = Wide{grey_.sum} + color_[c].sum;
    const Wide squares = Wide{grey_.squares} + color_[c].squares;
    result.mean[c] = static_cast<double>(sum) / static_cast<double>(count);
    const auto scaled_variance = static_cast<double>(count * squares - sum * sum);
    result.deviation[c] = std::sqrt(scaled_variance) / static_cast<double>(count);
  }
  result.mean_image = mean_image(result.channels);
  return result;
}

std::optional<MeanImage> MeanSums::mean_image(std::uint32_t channels) const {
  if (size_ != Size::one) return std::nullopt;
  MeanImage mean{{height_, width_, channels}, {}};
  mean.values.resize(mean.shape.bytes());
  for (std::size_t i = 0; i < mean.values.size(); ++i) {
    const std::uint64_t sum = (grey_sums_.empty() ? 0 : grey_sums_[i / channels]) +
                              (color_sums_.empty() ? 0 : color_sums_[i]);
    mean.values[i] = static_cast<double>(sum) / static_cast<double>(images_);
  }
  return mean;
}

DatasetMeans dataset_means(const Dataset& dataset, unsigned threads,
                           const ProgressCallback& progress) {
  struct Worker {
    Scratch scratch;
    Buffer pixels;
    MeanSums sums;
  };
  std::vector<Worker> workers(threads);
  const auto work = [&](unsigned number, std::uint64_t begin, std::uint64_t end) {
    Worker& worker = workers[number];
    for (std::uint64_t i = begin; i < end; ++i) {
      const Sample sample = dataset.read(i, worker.scratch);
      worker.pixels.resize(sample.shape.bytes());
      try {
        decode(sample, worker.pixels);
      } catch (const Error& error) {
        fail(dataset.info().path, "sample ", i, ": ", error.what());
      }
      worker.sums.add({sample.shape, worker.pixels});
    }
  };
  sweep(dataset.size(), threads, work, progress);
  for (std::size_t i = 1; i < workers.size(); ++i) workers[0].sums.merge(workers[i].sums);
  return workers[0].sums.means();
}

}  // namespace feedrate::formats
