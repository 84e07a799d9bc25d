#pragma once
// An IDX dataset in memory, reshuffled each epoch: a minimal loader for tests that train on real
// images. Not for untrusted files.

#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <vector>

#include "loader/batch.h"
#include "loader/order/sample_draws.h"

namespace feedrate::testing {
using namespace formats;
using namespace loader;

inline std::vector<std::uint8_t> gunzip(const std::filesystem::path& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) throw std::runtime_error("cannot open " + path.string());
  std::vector<std::uint8_t> all;
  std::vector<std::uint8_t> piece(1 << 20);
  for (int got = 0; (got = gzread(file, piece.data(), 1 << 20)) > 0;) {
    all.insert(all.end(), piece.begin(), piece.begin() + got);
  }
  gzclose(file);
  return all;
}

class IdxSource final : public BatchSource {
 public:
  enum class Order { as_stored, shuffled };

  /// `prefix` is "train" or "t10k".
  IdxSource(const std::filesystem::path& directory, const std::string& prefix, Order order,
            std::uint64_t epochs = 1)
      : images_(gunzip(directory / (prefix + "-images-idx3-ubyte.gz"))),
        labels_(gunzip(directory / (prefix + "-labels-idx1-ubyte.gz"))),
        order_(order),
        epochs_(epochs) {
    if (images_.size() < 16 || (images_.size() - 16) / size != labels_.size() - 8) {
      throw std::runtime_error("not an IDX pair: " + directory.string());
    }
    positions_.resize(labels_.size() - 8);
    start_epoch();
  }

  const Batch* next() override {
    if (first_ == positions_.size()) {
      if (++epoch_ == epochs_) return nullptr;
      start_epoch();
    }
    const std::size_t count = std::min<std::size_t>(batch_size(), positions_.size() - first_);
    pixels_.resize(count * size);
    batch_labels_.resize(count);
    for (std::size_t n = 0; n < count; ++n) {
      const std::size_t image = positions_[first_ + n];
      std::copy_n(images_.data() + 16 + image * size, size, pixels_.data() + n * size);
      batch_labels_[n] = labels_[8 + image];
    }
    first_ += count;
    batch_.number = number_++;
    batch_.epoch = epoch_;
    batch_.count = static_cast<std::uint32_t>(count);
    batch_.shape = shape();
    batch_.pixels = pixels_;
    batch_.labels = batch_labels_;
    batch_.last_of_epoch = first_ == positions_.size();
    return &batch_;
  }
  Shape shape() const override { return {28, 28, 1}; }
  std::uint32_t batch_size() const override { return 64; }

 private:
  static constexpr std::size_t size = 28 * 28;

  void start_epoch() {
    first_ = 0;
    std::iota(positions_.begin(), positions_.end(), std::size_t{0});
    if (order_ == Order::as_stored) return;
    for (std::size_t i = positions_.size(); i > 1; --i) {
      const std::uint64_t bits = random_bits(epoch_, i);
      std::swap(positions_[i - 1], positions_[below(bits, static_cast<std::uint32_t>(i))]);
    }
  }

  std::vector<std::uint8_t> images_, labels_, pixels_;
  std::vector<std::int32_t> batch_labels_;
  std::vector<std::size_t> positions_;
  Order order_;
  std::uint64_t epochs_, epoch_ = 0, number_ = 0;
  std::size_t first_ = 0;
  Batch batch_;
};

}  // namespace feedrate::testing
