#pragma once
// The checks that verify runs once it has read every sample: one file each. Each adds its findings.

#include <mutex>

#include "formats/crops/crop_index.h"
#include "formats/verify/verify.h"

namespace feedrate::formats {

/// What is kept of every sample: one value each, in index order.
struct SampleFacts {
  std::vector<std::uint64_t> images;  // fingerprints of shape and pixels; 0 where not decoded
  std::vector<std::uint64_t> names;   // fingerprints of names; 0 where there is none
  std::vector<std::int32_t> labels;
};

/// Compares count, class counts and digests with those in feedrate.json.
void check_sidecar(const Dataset& dataset, Verification& result);
/// Finds classes without samples, and labels that count from 1.
void check_classes(const Dataset& dataset, Verification& result);
/// Finds names that several samples have, and images that occur more than once.
void check_repeats(const Dataset& dataset, const SampleFacts& facts, Verification& result);
/// Reads the mean images beside the dataset and compares their size with the images'.
void check_means(const Dataset& dataset, Verification& result);
/// Compares samples and classes with those of the published set that the sidecar names.
void check_published_counts(const Dataset& dataset, Verification& result);

/// Makes the entries of a crop index again, while the samples are read, and compares them.
class CropCheck {
 public:
  explicit CropCheck(const Dataset& dataset);
  /// For each sample that was read. Any thread.
  void check(std::uint64_t index, const Sample& sample);
  void report(Verification& result) const;

 private:
  const Dataset& dataset_;
  const FoundCropIndex found_;
  std::mutex mutex_;
  std::uint64_t wrong_ = 0;
  std::uint64_t first_;  // of the samples with a wrong entry
  std::string name_, problem_;
};

/// Checks the label of ILSVRC2012_val_00000001: empty when it is right, else what is wrong with it.
std::string label_space_problem(const DatasetInfo& info, const Sample& sample);

}  // namespace feedrate::formats
