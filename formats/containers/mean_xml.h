#pragma once
// The mean image as CNTK reads it: an OpenCV FileStorage with one row of floats, height × width ×
// channels, blue first. Lines are wrapped: OpenCV before 4.3 refuses lines of more than a megabyte.

#include <filesystem>

#include "formats/dataset.h"

namespace feedrate {

void write_mean_xml(const std::filesystem::path& file, const MeanImage& mean);

}  // namespace feedrate
