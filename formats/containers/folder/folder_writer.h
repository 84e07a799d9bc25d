#pragma once
// Writes <class>/<name>.jpg or .png: what every tool for images can open.
//
// A class's directory is its name, where the names are plain file names in ascending order, so that
// sorting the directories gives the labels; else the label as five digits. Every class up to the
// largest gets one, also without images: a missing one would shift the labels behind it.
// A file is called as the sample is (without directories), else by its index in eight digits; when
// the name is taken the index follows it.

#include <memory>

#include "formats/dataset.h"

namespace feedrate::formats {

std::unique_ptr<Writer> make_folder_writer(const std::filesystem::path& directory,
                                           const WriterOptions& options);

}  // namespace feedrate::formats
