#pragma once
// What verify looks at once every sample has been read: one file a check. Each adds what it finds.

#include "formats/verify/verify.h"

namespace feedrate::formats {

/// What is kept of every sample: a value each, in index order.
struct SampleFacts {
  std::vector<std::uint64_t> images;  // fingerprints of shape and pixels; 0 where not decoded
  std::vector<std::uint64_t> names;   // fingerprints of names; 0 where there is none
  std::vector<std::int32_t> labels;
};

/// Count, class counts and digests as feedrate.json states them.
void check_sidecar(const Dataset& dataset, Verification& result);
/// Classes without samples, and labels that count from 1.
void check_classes(const Dataset& dataset, Verification& result);
/// Names that two samples have, and images that are there twice.
void check_repeats(const Dataset& dataset, const SampleFacts& facts, Verification& result);
/// Files of mean images beside the dataset: they are read, and fit the images.
void check_means(const Dataset& dataset, Verification& result);
/// How many samples and classes the published set has that the sidecar names.
void check_published_counts(const Dataset& dataset, Verification& result);

/// The label that ILSVRC2012_val_00000001 tells: empty, or what is wrong with it.
std::string label_space_problem(const DatasetInfo& info, const Sample& sample);

}  // namespace feedrate::formats
