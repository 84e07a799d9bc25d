#include <algorithm>

#include "formats/base/error.h"
#include "formats/base/imagenet_classes.h"
#include "formats/base/wnid.h"
#include "formats/verify/checks.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t max_named = 10;

// One image, whose class is known in all three label spaces of ILSVRC2012, tells them apart.
constexpr std::string_view known_image = "ILSVRC2012_val_00000001";
constexpr std::string_view known_wnid = "n01751748";

std::string_view explanation(std::int32_t label, std::int32_t known_label) {
  if (label == known_label + 1) {
    return "; that is its number in TensorFlow, where 0 is a background class";
  }
  const auto devkit_id = static_cast<std::int32_t>(imagenet_id_of_label(known_label));
  if (label == devkit_id) return "; that is the devkit's ILSVRC2012_ID, from 1";
  if (label == devkit_id - 1) return "; that is the devkit's ILSVRC2012_ID - 1";
  if (label == known_label - 1)
    return "; was 1 subtracted for a background class that does not exist?";
  return "";
}

}  // namespace

std::string label_space_problem(const DatasetInfo& info, const Sample& sample) {
  if (sample.name.find(known_image) == std::string_view::npos) return {};
  // A dataset may number its classes in its own way, if it names them.
  const std::int32_t known_label = imagenet_label(known_wnid).value();
  std::int32_t expected = known_label;
  const std::vector<std::string>& names = info.class_names.names;
  if (!names.empty()) {
    const auto at = std::find(names.begin(), names.end(), known_wnid);
    if (at == names.end() && !is_wnid(names.front())) return {};
    if (at != names.end()) expected = static_cast<std::int32_t>(at - names.begin());
  }
  if (sample.label == expected) return {};
  return join(known_image, " has the label ", sample.label, ", but is of class ", expected, " (",
              known_wnid, ")", explanation(sample.label, known_label));
}

void check_classes(const Dataset& dataset, Verification& result) {
  const std::vector<std::uint64_t>& counts = result.class_counts;
  const std::size_t classes = std::max<std::size_t>(dataset.info().classes, counts.size());
  std::vector<std::size_t> empty;
  for (std::size_t label = 0; label < classes; ++label) {
    if (label >= counts.size() || counts[label] == 0) empty.push_back(label);
  }
  if (empty.empty() || result.samples == 0) return;
  const std::string place = shown_path(dataset.info().path);
  if (empty.size() == 1 && empty.front() == 0) {
    result.notes.push_back({place,
                            "labels count from 1: class 0 has no samples (a background "
                            "class, or labels that are one too high)"});
    return;
  }
  std::string list;
  for (std::size_t i = 0; i < std::min(empty.size(), max_named); ++i) {
    list += join(i == 0 ? "" : ", ", empty[i]);
  }
  result.notes.push_back({place, join(empty.size(), " of ", classes, " classes have no samples: ",
                                      list, empty.size() > max_named ? ", …" : "")});
}

}  // namespace feedrate::formats
