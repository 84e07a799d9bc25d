#pragma once
// The crop indexes beside a dataset, or beside the members of a mix.

#include <string>
#include <vector>

#include "formats/crops/crop_index.h"

namespace feedrate::loader::detail {

/// Immutable; any thread. The dataset outlives it.
class CropIndexes {
 public:
  /// Not `wanted`: none is looked for.
  CropIndexes(const formats::Dataset& dataset, bool wanted) : dataset_(dataset) {
    if (!wanted) return;
    if (dataset.members().empty()) add(dataset);
    for (const auto& member : dataset.members()) add(*member);
  }

  bool any() const { return any_; }
  /// What CropIndex::entry() returns.
  formats::Bytes entry(std::uint64_t sample) const {
    const auto [dataset, member, index] = dataset_.locate(sample);
    const auto& crops = found_[member].index;
    return crops ? crops->entry(index) : formats::Bytes();
  }
  void look_ahead(std::uint64_t sample) const {
    const auto [dataset, member, index] = dataset_.locate(sample);
    if (const auto& crops = found_[member].index) crops->look_ahead(index);
  }
  /// As FoundCropIndex has it, of all of them.
  const std::string& problem() const { return problem_; }

 private:
  void add(const formats::Dataset& dataset) {
    found_.push_back(formats::find_crop_index(dataset));
    const formats::FoundCropIndex& last = found_.back();
    any_ = any_ || last.index.has_value();
    if (last.problem.empty()) return;
    problem_ += problem_.empty() ? last.problem : "; " + last.problem;
  }

  const formats::Dataset& dataset_;
  std::vector<formats::FoundCropIndex> found_;  // one, or one for each member; none: not wanted
  bool any_ = false;
  std::string problem_;
};

}  // namespace feedrate::loader::detail
