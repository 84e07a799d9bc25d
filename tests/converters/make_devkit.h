#pragma once
// A devkit of ILSVRC2012 for tests: the genuine classes under ids in an order of its own, and a
// ground truth that follows a rule.

#include <string>

#include "converters/imagenet/mat_file.h"
#include "converters/imagenet/wnids.h"
#include "tests/converters/make_archive.h"

namespace feedrate::testing {
using namespace formats;
using namespace converters;

/// The ILSVRC2012_ID here of the class at a place of the sorted wnids.
inline int made_id(int label) { return label * 7 % 1000 + 1; }

/// The class of the validation image at `index`, the first being 0.
inline int made_val_label(std::size_t index) { return static_cast<int>(index * 13 % 1000); }

/// One row for each class and one inner synset, which is no class.
inline MatArray make_synsets() {
  const auto number = [](double value) {
    MatArray array;
    array.dimensions = {1, 1};
    array.numbers = {value};
    return array;
  };
  const auto text = [](const std::string& value) {
    MatArray array;
    array.kind = MatArray::Kind::text;
    array.dimensions = {1, static_cast<std::uint32_t>(value.size())};
    array.text = value;
    return array;
  };
  MatArray synsets;
  synsets.kind = MatArray::Kind::structs;
  synsets.name = "synsets";
  synsets.dimensions = {1001, 1};
  synsets.fields = {"ILSVRC2012_ID", "WNID", "words", "gloss", "num_children"};
  for (int label = 0; label < 1000; ++label) {
    const std::string& wnid = imagenet_wnids()[static_cast<std::size_t>(label)];
    for (MatArray field :
         {number(made_id(label)), text(wnid), text("words of " + wnid), text("gloss"), number(0)}) {
      synsets.elements.push_back(std::move(field));
    }
  }
  for (MatArray field :
       {number(1001), text("n00001740"), text("entity"), text("gloss"), number(2)}) {
    synsets.elements.push_back(std::move(field));
  }
  return synsets;
}

inline std::string make_meta() { return std::string(as_text(write_mat_file({make_synsets()}))); }

inline std::string make_ground_truth() {
  std::string lines;
  for (std::size_t i = 0; i < 50000; ++i) {
    lines += std::to_string(made_id(made_val_label(i))) + "\n";
  }
  return lines;
}

/// ILSVRC2012_devkit_t12.tar.gz
inline std::string make_devkit() {
  const std::string folder = "ILSVRC2012_devkit_t12/";
  return tar_gz({{folder + "COPYING", "text"},
                 {folder + "data/meta.mat", make_meta()},
                 {folder + "data/ILSVRC2012_validation_ground_truth.txt", make_ground_truth()}});
}

}  // namespace feedrate::testing
