#pragma once
// The WordNet ids of ILSVRC2012's classes. Sorted, a class's place is its label: what torchvision,
// Caffe, MXNet and timm mean by it; TensorFlow's is one more. Stateless.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace feedrate::converters {

inline constexpr std::size_t imagenet_classes = 1000;

/// All 1,000 of them, sorted: "n01440764", … "n15075141".
const std::vector<std::string>& imagenet_wnids();

/// The place of `wnid` among `wnids`, which are sorted; nothing when it is not there.
std::optional<std::int32_t> wnid_index(const std::vector<std::string>& wnids,
                                       std::string_view wnid);

}  // namespace feedrate::converters
