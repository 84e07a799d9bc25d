#pragma once
// Writes <class>/<name>.jpg or .png, which every image tool can open.
//
// A class's directory has its name, if the names are plain file names in ascending order, so that
// sorting the directories gives the labels; else it is the label in five digits. Every class up to
// the largest gets a directory, even without images: a missing one would shift the labels after it.
// A file has its sample's name (without directories), or its index in eight digits if there is
// none; when the name is taken, the index is appended.

#include <memory>

#include "formats/dataset.h"

namespace feedrate::formats {

std::unique_ptr<Writer> make_folder_writer(const std::filesystem::path& directory,
                                           const WriterOptions& options);

}  // namespace feedrate::formats
