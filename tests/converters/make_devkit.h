#pragma once
// A devkit of ILSVRC2012 for tests, whose ground truth follows a rule.

#include <string>

#include "formats/base/imagenet_classes.h"
#include "tests/converters/make_archive.h"

namespace feedrate::testing {
using namespace converters;

/// The class of the validation image at `index`, the first being 0.
inline int made_val_label(std::size_t index) { return static_cast<int>(index * 13 % 1000); }

inline std::string make_ground_truth() {
  std::string lines;
  for (std::size_t i = 0; i < 50000; ++i) {
    lines += std::to_string(imagenet_id_of_label(made_val_label(i))) + "\n";
  }
  return lines;
}

/// ILSVRC2012_devkit_t12.tar.gz, with a meta.mat that is not read.
inline std::string make_devkit() {
  const std::string folder = "ILSVRC2012_devkit_t12/";
  return tar_gz({{folder + "COPYING", "text"},
                 {folder + "data/meta.mat", noise(5000, 1)},
                 {folder + "data/ILSVRC2012_validation_ground_truth.txt", make_ground_truth()}});
}

}  // namespace feedrate::testing
