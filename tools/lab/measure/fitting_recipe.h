#pragma once
// The recipe for images of different sizes, where none was asked for.

#include <string>

#include "formats/dataset.h"

namespace feedrate::tools {

/// `asked`, or "imagenet-train", with a note, where recipe "none" was asked for and the first sizes seen differ: "none"
/// needs images of one size. Reads the headers of up to 64 samples.
std::string fitting_recipe(const formats::Dataset& dataset, const std::string& asked);

}  // namespace feedrate::tools
