#pragma once
// Draws the sample of a dataset's images on which conversions are tried.

#include <cstdint>
#include <vector>

#include "formats/inspect/survey.h"

namespace feedrate::tools {

struct TrialSample {
  std::vector<std::uint64_t> indices;  // ascending, each once
  /// How far the sample's mean image, in encoded and decoded bytes, may be from the mean of all
  /// images, as a share: ± this. The cost of an image grows with its bytes.
  double doubt = 0;
  /// Encoded bytes of each; empty when not all are known.
  std::vector<std::uint64_t> bytes;
};

/// Draws a sample whose pixels fit into the memory of a trial, from a dataset of `size` images of
/// which `seen` has looked at some; all images where they fit.
///
/// The cost of an image depends on its bytes and its pixels. So the function draws many times from
/// the images seen and takes the draw whose means of both are nearest to those of all images
/// (rejective sampling; Fuller, 2009). A single random draw would be off by the spread of sizes
/// divided by the square root of their number: 3 % for 500 photographs. Pure function.
TrialSample draw_trial_sample(std::uint64_t size, const formats::Survey& seen, std::uint64_t seed);

/// The doubt that converting adds: twice the standard error of the mean of those converted bytes
/// that do not follow from the original bytes (linear regression). `converted` describes the
/// sample's images after conversion, in their order. Balancing a draw cannot reduce this part for
/// raw images, whose original bytes are all the same. Pure function.
double unforeseen_doubt(const TrialSample& sample, const formats::Survey& converted);

}  // namespace feedrate::tools
