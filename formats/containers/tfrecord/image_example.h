#pragma once
// Images in tf.Examples: the keys that the usual scripts give them. Values and views.
//
//   ImageNet  build_imagenet_data.py, tf_cnn_benchmarks, TPU: image/encoded, …/class/label counted
//             from 1 (0 is the background), …/class/synset, …/object/bbox/…, …/filename
//   slim      MNIST, CIFAR, flowers: image/encoded, image/class/label counted from 0
//   others    image (TFDS, CIFAR tutorial), image_raw, img_raw; label; height, width, depth

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/dataset.h"

namespace feedrate::formats {

/// Keys of the two layouts that are also written.
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

/// What an Example says of its image; what it does not say stays empty.
struct ImageExample {
  Bytes image;                 // encoded, or raw pixels
  std::string_view image_key;  // where it was
  std::string_view format;     // as stated: "JPEG", "png", "raw"
  std::optional<std::int64_t> height, width, channels;
  std::optional<std::int64_t> label;  // as stored
  bool has_wnid = false;              // image/class/synset is of ImageNet's kind: "n01440764"
  std::string_view name;
};

/// Views of `example`; boxes go to `boxes`. Throws Error for what is no Example, for one without an
/// image (naming its keys) and for values of a wrong kind.
ImageExample parse_image_example(Bytes example, std::vector<Box>& boxes);

/// The sample that the example is, without its boxes. Throws Error for an image that no codec
/// knows, for raw pixels whose shape cannot be told, and for a missing or impossible label.
///
/// Stored labels count from 1 beside a wnid, as ImageNet's scripts have it, and from 0 elsewhere,
/// whatever a sidecar says: records tell it themselves, also after they were copied.
///
/// Raw pixels are rows of interleaved pixels where the record states height and width; without
/// them 784 bytes are a grey digit of 28x28 and 3072 bytes under `image` are the planes R, G, B of
/// 32x32 (TensorFlow's CIFAR tutorial). Others are refused rather than guessed.
Sample to_sample(const ImageExample& example);

}  // namespace feedrate::formats
