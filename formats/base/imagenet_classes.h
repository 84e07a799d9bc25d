#pragma once
// The 1,000 classes of ILSVRC2012. The label of a class is its position among the sorted wnids, as
// in torchvision, Caffe, MXNet and timm; TensorFlow's labels are greater by one. The devkit numbers
// the classes in another order, by an ILSVRC2012_ID from 1 to 1000. Any thread.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace feedrate::formats {

inline constexpr std::size_t imagenet_classes = 1000;

/// By label: "n01440764", … "n15075141".
const std::vector<std::string>& imagenet_wnids();

/// By label: "tench, Tinca tinca", … "toilet tissue, toilet paper, bathroom tissue".
const std::vector<std::string>& imagenet_words();

/// The label of a wnid; nothing for a wnid that is not one of the thousand.
std::optional<std::int32_t> imagenet_label(std::string_view wnid);

/// From an ILSVRC2012_ID to a label, and back. The argument must be in range.
std::int32_t label_of_imagenet_id(std::size_t id);
std::size_t imagenet_id_of_label(std::int32_t label);

}  // namespace feedrate::formats
