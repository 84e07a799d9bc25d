#pragma once
// Other ways to keep the same images that a loader may be quicker with.

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

  /// "recordio jpeg:90 short:256"
  std::string name() const;
  /// The command that makes it of all of `dataset`, and the path it goes to.
  std::string command(const std::filesystem::path& dataset) const;
  std::filesystem::path out(const std::filesystem::path& dataset) const;
};

/// Worth a trial for such a dataset and recipe, the smallest change first. Images are made smaller
/// only where the recipe resizes them anyway, never below what it takes of them; photographs stay
/// photographs, and small images keep every bit.
std::vector<Candidate> candidates(const formats::Dataset& dataset, const formats::Survey& survey,
                                  const loader::Recipe& recipe);

}  // namespace feedrate::tools
