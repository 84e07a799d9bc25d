#pragma once
// Images in tf.Examples, by the keys that common scripts write. Values and views.
//
//   ImageNet  build_imagenet_data.py, tf_cnn_benchmarks, TPU: image/encoded, …/class/label counted
//             from 1 (0 is the background), …/class/synset, …/object/bbox/…, …/filename
//   slim      MNIST, CIFAR, flowers: image/encoded, image/class/label counted from 0
//   objects   the Object Detection API: image/encoded, image/object/class/label and …/text
//   others    image (TFDS, CIFAR tutorial), image_raw, img_raw; label, class; height, width, depth

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/containers/tfrecord/example_keys.h"
#include "formats/dataset.h"

namespace feedrate::formats {

/// Keys of the two layouts that Feedrate also writes.
namespace example_key {
inline constexpr std::string_view height = "image/height";
inline constexpr std::string_view width = "image/width";
inline constexpr std::string_view colorspace = "image/colorspace";
inline constexpr std::string_view channels = "image/channels";
inline constexpr std::string_view label = "image/class/label";
inline constexpr std::string_view synset = "image/class/synset";
inline constexpr std::string_view text = "image/class/text";
inline constexpr std::string_view xmin = "image/object/bbox/xmin";
inline constexpr std::string_view xmax = "image/object/bbox/xmax";
inline constexpr std::string_view ymin = "image/object/bbox/ymin";
inline constexpr std::string_view ymax = "image/object/bbox/ymax";
inline constexpr std::string_view box_label = "image/object/bbox/label";
inline constexpr std::string_view format = "image/format";
inline constexpr std::string_view filename = "image/filename";
inline constexpr std::string_view encoded = "image/encoded";
}  // namespace example_key

/// What an Example states about its image; what it does not state stays empty.
struct ImageExample {
  Bytes image;                 // encoded, or raw pixels
  std::string_view image_key;  // the key it was under
  std::string_view format;     // as stated: "JPEG", "png", "raw"
  std::optional<std::int64_t> height, width, channels;
  std::optional<std::int64_t> label;  // as stored; of several, the first
  std::string_view label_text;        // where it is text
  std::string_view
      wnid;  // "n01440764": the synset, the text of the class, or the beginning of the name
  bool has_synset = false;  // it is the synset
  std::string_view name;
  std::uint32_t boxes_left_out = 0;  // stated boxes that are none
};

/// How the labels of a set are numbered; label_rule.h finds out.
struct LabelRule {
  std::int32_t first = 0;  // number of the first class
  bool is_imagenet =
      false;  // beside a wnid, the place in ILSVRC2012's table plus `first` is expected
};

/// Views of `example`; boxes go to `scratch`, and labels, where there are several. Throws Error for bytes that are not an
/// Example, for an Example without the image and for values of the wrong type.
ImageExample parse_image_example(Bytes example, const ExampleKeys& keys, Scratch& scratch);

/// The sample in the example, without its label. Throws Error for an image that no codec knows and for raw pixels of
/// unknown shape.
///
/// Raw pixels are interleaved rows where the path or the record states their shape. Without that, 784
/// bytes are a grey digit of 28x28, and 3072 bytes under `image` are the planes R, G, B of 32x32
/// (TensorFlow's CIFAR tutorial). Other sizes are refused rather than guessed.
Sample to_sample(const ImageExample& example, const ExampleKeys& keys);

/// The class that is a number. Throws Error where there is none, and where the record counts from another number than
/// its set.
std::int32_t class_of(const ImageExample& example, const ExampleKeys& keys, const LabelRule& rule);

}  // namespace feedrate::formats
