#pragma once
// Writes images as tf.Examples: with the ImageNet keys where the classes are named by wnids, else
// with those of TensorFlow-slim. Keys come in a fixed order, so files are reproducible.

#include <array>
#include <cstdint>
#include <vector>

#include "formats/containers/tfrecord/tf_example.h"
#include "formats/dataset.h"

namespace feedrate::formats {

/// One thread; allocates nothing after the first few samples.
class ImageExampleWriter {
 public:
  /// `classes` must outlive the writer.
  explicit ImageExampleWriter(const ClassNames& classes);

  /// True when labels are written counting from 1, beside their synset.
  bool imagenet() const { return imagenet_; }
  /// The message in parts, as ExampleWriter::finish returns them; the last one is sample.bytes.
  /// Throws Error for raw pixels and for a label without a class.
  std::array<Bytes, 3> write(const Sample& sample);

 private:
  void add_imagenet(const Sample& sample);
  void add_slim(const Sample& sample);
  void add_boxes(const Sample& sample, std::int64_t label);

  const ClassNames& classes_;
  bool imagenet_ = false;
  ExampleWriter example_;
  std::vector<float> side_;
  std::vector<std::int64_t> box_labels_;
};

}  // namespace feedrate::formats
