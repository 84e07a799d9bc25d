#pragma once
// The crop indexes beside a dataset: its own, or those beside the parts of a mix.

#include <string>
#include <vector>

#include "formats/crops/crop_index.h"
#include "loader/order/joined.h"

namespace feedrate::loader::detail {

/// Immutable; any thread.
class CropIndexes {
 public:
  /// Not `wanted`: none is looked for.
  CropIndexes(const formats::Dataset& dataset, bool wanted)
      : joined_(dynamic_cast<const Joined*>(&dataset)) {
    if (!wanted) return;
    if (joined_ == nullptr) {
      add(dataset);
    } else {
      for (const auto& part : joined_->parts()) add(*part);
    }
  }

  bool any() const { return any_; }
  /// What CropIndex::entry() returns.
  formats::Bytes entry(std::uint64_t sample) const {
    const auto [index, at] = find(sample);
    return index != nullptr ? index->entry(at) : formats::Bytes();
  }
  void look_ahead(std::uint64_t sample) const {
    if (const auto [index, at] = find(sample); index != nullptr) index->look_ahead(at);
  }
  /// As FoundCropIndex has it, of all of them.
  const std::string& problem() const { return problem_; }

 private:
  struct Place {
    const formats::CropIndex* index;
    std::uint64_t sample;
  };

  void add(const formats::Dataset& dataset) {
    found_.push_back(formats::find_crop_index(dataset));
    const formats::FoundCropIndex& last = found_.back();
    any_ = any_ || last.index.has_value();
    if (last.problem.empty()) return;
    problem_ += problem_.empty() ? last.problem : "; " + last.problem;
  }
  Place find(std::uint64_t sample) const {
    std::size_t part = 0;
    if (joined_ != nullptr) {
      part = joined_->part_of(sample);
      sample = joined_->find(sample).index;
    }
    return {found_[part].index ? &*found_[part].index : nullptr, sample};
  }

  const Joined* joined_;
  std::vector<formats::FoundCropIndex> found_;  // one, or one for each part; none: not wanted
  bool any_ = false;
  std::string problem_;
};

}  // namespace feedrate::loader::detail
