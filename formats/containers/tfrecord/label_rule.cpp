#include "formats/containers/tfrecord/label_rule.h"

#include <algorithm>

#include "formats/base/imagenet_classes.h"
#include "formats/base/wnid.h"

namespace feedrate::formats {

bool counts_from_one(const ClassNames& classes) {
  return !classes.names.empty() && std::ranges::all_of(classes.names, is_wnid);
}

void LabelEvidence::add(const ImageExample& example) {
  any_text_ = any_text_ || !example.label_text.empty();
  const bool is_text = !example.label && !example.label_text.empty();
  labels_ += example.label || is_text ? 1 : 0;
  texts_ += is_text ? 1 : 0;
  if (example.wnid.empty() || !example.label) return;
  ++ids_;
  synsets_ = synsets_ || example.has_synset;
  zero_ = zero_ || *example.label == 0;
  const std::optional<std::int32_t> place = imagenet_label(example.wnid);
  if (!place) return;
  ++known_;
  if (*example.label == *place) ++from_zero_;
  if (*example.label == *place + 1) ++from_one_;
}

std::optional<LabelRule> LabelEvidence::rule() const {
  if (is_imagenet()) return LabelRule{from_one_ > from_zero_ ? 1 : 0, true};
  if (synsets_ && !zero_) return std::nullopt;
  return LabelRule{};
}

}  // namespace feedrate::formats
