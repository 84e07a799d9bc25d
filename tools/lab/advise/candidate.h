#pragma once
// Other formats of the same images from which a loader may be faster.

#include <optional>
#include <string>
#include <vector>

#include "formats/container.h"
#include "formats/encoding.h"
#include "formats/inspect/survey.h"
#include "formats/pixels/resize.h"
#include "loader/recipe.h"

namespace feedrate::tools {

struct Candidate {
  const formats::Container* container = nullptr;
  formats::Encoding encoding;
  std::optional<formats::Resize> resize;
  bool crops = false;  // no conversion: a crop index beside the files as they are

  /// "recordio jpeg:90 short:256"
  std::string name() const;
  /// The command that converts or indexes all of `dataset`, and the path that a conversion writes to.
  std::string command(const std::filesystem::path& dataset) const;
  std::filesystem::path out(const std::filesystem::path& dataset) const;
};

/// Formats worth a trial for this dataset and recipe, the smallest change first. Images are shrunk
/// only where the recipe resizes them anyway, and never below what it uses of them. Only
/// photographs are re-encoded with loss; small images keep every bit.
std::vector<Candidate> candidates(const formats::Dataset& dataset, const formats::Survey& survey,
                                  const loader::Recipe& recipe);

}  // namespace feedrate::tools
