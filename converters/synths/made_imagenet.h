#pragma once
// The images of a made ILSVRC2012, in whichever packaging: for one seed, the same in each.

#include <cstdint>
#include <string>
#include <vector>

#include "converters/synths/made_images.h"

namespace feedrate::converters {

/// A scene as a JPEG, of the look of a class and of the size of a photograph of ImageNet.
formats::Buffer draw_photograph(unsigned label, Draws draws);
/// The same of one size.
formats::Buffer draw_photograph(unsigned label, formats::Shape shape, Draws draws);

/// Classes of about 50 training images, spread evenly over the thousand labels.
class MadeImagenet {
 public:
  explicit MadeImagenet(MadeImages& images);

  /// How many training images each label has. Labels without any are no classes.
  const std::vector<std::uint64_t>& train_images() const { return train_images_; }
  /// The label of each of the 50,000 validation images.
  const std::vector<std::int32_t>& val_labels() const { return val_labels_; }
  /// Numbers of the validation images that are made, from 1, in random order.
  const std::vector<std::uint64_t>& val_numbers() const { return val_numbers_; }

  /// "ILSVRC2012_val_00000001"
  static std::string val_name(std::uint64_t number);

  /// Makes the training images [first, last), which are of one label.
  void make_train(unsigned label, std::uint64_t first, std::uint64_t last,
                  const MadeImages::Take& take);
  /// Makes the validation images of these numbers, which are those of val_numbers() in any order.
  void make_val(const std::vector<std::uint64_t>& numbers, const MadeImages::Take& take);

 private:
  MadeImages& images_;
  std::vector<std::uint64_t> train_images_;
  std::vector<std::int32_t> val_labels_;
  std::vector<std::uint64_t> val_numbers_;
};

}  // namespace feedrate::converters
