#pragma once
// Writes <class>/<name>.jpg or .png, which every image tool can open.
//
// The directory of a class is that of class_directories.h. A file has its sample's name (without
// directories), or its index in eight digits if there is none; when the name is taken, the index is
// appended. digest_list.h lists them all.

#include <memory>

#include "formats/dataset.h"

namespace feedrate::formats {

std::unique_ptr<Writer> make_folder_writer(const std::filesystem::path& directory,
                                           const WriterOptions& options);

}  // namespace feedrate::formats
