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

  /// A label that has training images, from number `first` to `last` - 1.
  struct Class {
    unsigned label = 0;
    std::uint64_t first = 0;
    std::uint64_t last = 0;
  };

  /// In the order of the labels.
  const std::vector<Class>& train_classes() const { return train_classes_; }
  /// The label of each of the 50,000 validation images.
  const std::vector<std::int32_t>& val_labels() const { return val_labels_; }
  /// Numbers of the validation images that are made, from 1, in random order.
  const std::vector<std::uint64_t>& val_numbers() const { return val_numbers_; }

  /// "ILSVRC2012_val_00000001"
  static std::string val_name(std::uint64_t number);

  /// Makes the training images of a class.
  void make_train(const Class& one, const MadeImages::Take& take);
  /// Makes the validation images of these numbers, which are those of val_numbers() in any order.
  void make_val(const std::vector<std::uint64_t>& numbers, const MadeImages::Take& take);

 private:
  MadeImages& images_;
  std::vector<Class> train_classes_;
  std::vector<std::int32_t> val_labels_;
  std::vector<std::uint64_t> val_numbers_;
};

}  // namespace feedrate::converters
