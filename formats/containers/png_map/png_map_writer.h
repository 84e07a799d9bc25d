#pragma once
// Writes <split>/00000.png …, <split>_map.txt and, given a mean image, mean.xml.

#include <filesystem>
#include <memory>

#include "formats/dataset.h"

namespace feedrate::formats {

inline constexpr std::string_view map_suffix = "_map.txt";

std::unique_ptr<Writer> make_png_map_writer(const std::filesystem::path& directory,
                                            const WriterOptions& options);

}  // namespace feedrate::formats
