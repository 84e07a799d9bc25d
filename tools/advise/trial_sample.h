#pragma once
// Which of a dataset's images stand for all of them while a conversion is tried.

#include <cstdint>
#include <vector>

#include "formats/inspect/survey.h"

namespace feedrate::tools {

struct TrialSample {
  std::vector<std::uint64_t> indices;  // ascending, each once
  /// How far their mean image may be from all images', encoded and decoded, as a share: ± this.
  /// Images of more bytes take more of everything.
  double doubt = 0;
  /// Encoded bytes of each; empty where they are not known of all.
  std::vector<std::uint64_t> bytes;
};

/// So many images as a trial may hold in memory as pixels, of `size` in all that `seen` has looked
/// at some of; all where they fit.
///
/// What an image costs hangs on its bytes and its pixels. Of many draws of images that were seen,
/// the one is taken whose means of both are nearest to all images' (rejective
/// sampling; Fuller, 2009): a draw left to chance would be off by the spread of sizes over the root
/// of their number, 3 % for 500 photographs. A pure function.
TrialSample draw_trial_sample(std::uint64_t size, const formats::Survey& seen, std::uint64_t seed);

/// What `converted`, the sample's images in their order as they were tried, adds to the doubt:
/// twice the standard error of their mean bytes, of what of them does not follow from the bytes
/// they had (linear regression). A draw can balance nothing of raw images, which are of one size.
/// Pure function.
double unforeseen_doubt(const TrialSample& sample, const formats::Survey& converted);

}  // namespace feedrate::tools
