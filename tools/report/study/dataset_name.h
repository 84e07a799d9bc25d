#pragma once
// What a person calls the images of a study, from the paths under which they were measured.

#include <map>
#include <string>
#include <vector>

#include "tools/measure/row.h"

namespace feedrate::tools {

/// By digest: the folder that all paths of these images share and that no other images lie in
/// ("mnist" of data/mnist/lmdb and data/mnist/recordio); else the digest's first eight digits, or
/// "" where all rows are of the same images and nothing needs telling apart.
std::map<std::string, std::string> dataset_names(const std::vector<Run>& runs);

}  // namespace feedrate::tools
