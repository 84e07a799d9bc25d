#pragma once
// Generated batches: pixels and labels are pure functions of a seed, so nothing is stored.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "loader/batch.h"
#include "loader/order/sample_draws.h"

namespace feedrate::testing {
using namespace formats;
using namespace loader;

/// Yields the same few images again and again, in batches. Pixel i of image n of the whole source
/// is the top byte of random_bits(mix64(seed), n · pixels + i); the label is the image's first byte
/// modulo the number of classes.
class RandomSource final : public BatchSource {
 public:
  struct Options {
    Shape shape{28, 28, 1};
    std::uint32_t classes = 10;
    std::uint32_t batch = 64;
    std::uint64_t images = 640;  // in an epoch
    std::uint64_t epochs = 1;
    std::uint64_t seed = 1;
  };
  explicit RandomSource(const Options& options) : options_(options) {}

  const Batch* next() override {
    if (epoch_ == options_.epochs) return nullptr;
    const std::uint64_t left = options_.images - first_;
    const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, options_.batch));
    fill(count);
    batch_.number = number_++;
    batch_.epoch = epoch_;
    batch_.count = count;
    batch_.shape = options_.shape;
    batch_.pixels = pixels_;
    batch_.labels = labels_;
    batch_.last_of_epoch = count == left;
    first_ += count;
    if (batch_.last_of_epoch) first_ = 0, ++epoch_;
    return &batch_;
  }
  Shape shape() const override { return options_.shape; }
  std::uint32_t batch_size() const override { return options_.batch; }

  /// Continues as if `batches` batches had been taken.
  void skip(std::uint64_t batches) {
    while (batches-- > 0) next();
  }

 private:
  void fill(std::uint32_t count) {
    const std::size_t size = options_.shape.bytes();
    pixels_.resize(count * size);
    labels_.resize(count);
    for (std::uint32_t n = 0; n < count; ++n) {
      for (std::size_t i = 0; i < size; ++i) {
        const std::uint64_t bits = random_bits(mix64(options_.seed), (first_ + n) * size + i);
        pixels_[n * size + i] = static_cast<std::uint8_t>(bits >> 56);
      }
      labels_[n] = static_cast<std::int32_t>(pixels_[n * size] % options_.classes);
    }
  }

  Options options_;
  std::uint64_t number_ = 0, epoch_ = 0, first_ = 0;
  std::vector<std::uint8_t> pixels_;
  std::vector<std::int32_t> labels_;
  Batch batch_;
};

}  // namespace feedrate::testing
