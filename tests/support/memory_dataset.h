#pragma once
// A dataset in memory: raw images whose label and first bytes show their index.

#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "formats/dataset.h"
#include "loader/order/sample_draws.h"

namespace feedrate::testing {
using namespace formats;

class MemoryDataset final : public Dataset {
 public:
  /// `on_read` may sleep, throw, or change the sample; it is called on the reading thread.
  using OnRead = std::function<void(std::uint64_t index, Sample& sample)>;

  explicit MemoryDataset(std::uint64_t size, Shape shape = {28, 28, 1}, OnRead on_read = {})
      : pixels_(size * shape.bytes()), on_read_(std::move(on_read)) {
    info_.path = "memory";
    info_.format = "memory";
    info_.codec = "raw";
    info_.size = size;
    info_.shape = shape;
    info_.classes = 10;
    for (std::size_t i = 0; i < pixels_.size(); ++i) {
      pixels_[i] = static_cast<std::byte>(mix64(i) >> 56);
    }
    for (std::uint64_t i = 0; i < size && shape.bytes() >= sizeof(i); ++i) {
      std::memcpy(pixels_.data() + i * shape.bytes(), &i, sizeof(i));
    }
  }

  Sample read(std::uint64_t index, Scratch& scratch) const override {
    Sample sample;
    sample.bytes = Bytes(pixels_).subspan(index * info_.shape.bytes(), info_.shape.bytes());
    sample.codec = &raw_codec;
    sample.shape = info_.shape;
    sample.label = static_cast<std::int32_t>(index % 10);
    if (on_read_) {
      scratch.name = "image-" + std::to_string(index);
      sample.name = scratch.name;
      on_read_(index, sample);
    }
    return sample;
  }

  /// By default 10 classes without names.
  void set_classes(std::uint32_t classes, std::vector<std::string> names = {}) {
    info_.classes = classes;
    info_.class_names.names = std::move(names);
  }

  Bytes pixels() const { return pixels_; }

 private:
  Buffer pixels_;
  OnRead on_read_;
};

}  // namespace feedrate::testing
