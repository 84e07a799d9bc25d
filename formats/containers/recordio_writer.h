#pragma once
// Writes data.rec, data.idx and data.lst as MXNet's im2rec does.

#include <filesystem>
#include <memory>

#include "formats/dataset.h"

namespace feedrate {

inline constexpr std::string_view recordio_data = "data.rec";

std::unique_ptr<Writer> make_recordio_writer(const std::filesystem::path& directory,
                                             const WriterOptions& options);

}  // namespace feedrate
