#pragma once
// One file of CIFAR, in either packaging: a batch of images, or the names of the classes.
//
//   binary, CIFAR-10:  label │ red 1024 │ green 1024 │ blue 1024 │ label │ …
//   binary, CIFAR-100: coarse │ fine │ red 1024 │ green 1024 │ blue 1024 │ coarse │ …
//   python: a dict of data (an array of count x 3072) and a list of labels

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "converters/cifar/cifar_layout.h"
#include "converters/cifar/pickle.h"

namespace feedrate::converters {

/// The images of a file, which it keeps in memory. Movable: views from pixels() stay valid.
class CifarBatch {
 public:
  /// `file` is the whole file; its content decides the packaging, `named` is what its name says.
  /// `place` names it in errors. Throws Error naming the byte or the image if it is truncated, is
  /// of another dataset, or has a label outside the layout.
  CifarBatch(const CifarLayout& layout, CifarPackaging named, formats::Buffer file,
             std::string place);

  std::uint64_t count() const { return labels_.size(); }
  /// The red, green and blue planes of image `index` (below count()).
  formats::Bytes pixels(std::uint64_t index) const {
    return {first_ + index * stride_, cifar_image_bytes};
  }
  std::int32_t label(std::uint64_t index) const { return labels_[index]; }
  /// The fine and the coarse label; empty if there is only one.
  std::span<const float> all_labels(std::uint64_t index) const {
    if (pairs_.empty()) return {};
    return pairs_[index];
  }

 private:
  void read_binary(const CifarLayout& layout);
  void read_pickle(const CifarLayout& layout);
  std::vector<std::uint8_t> read_labels(const CifarLayout& layout, std::string_view key,
                                        std::uint32_t classes) const;
  void set_labels(std::vector<std::uint8_t> fine, const std::vector<std::uint8_t>& coarse);

  std::string place_;
  formats::Buffer file_;
  std::optional<Pickle> pickle_;  // owns the pixels if they were pickled as text
  const std::byte* first_ = nullptr;
  std::size_t stride_ = 0;
  std::vector<std::uint8_t> labels_;
  std::vector<std::array<float, 2>> pairs_;
};

/// The class names in a file of either packaging. Throws Error unless there is one for each class.
std::vector<std::string> read_cifar_names(const CifarLayout& layout, CifarPackaging named,
                                          formats::Bytes file, const std::string& place);

}  // namespace feedrate::converters
