#pragma once
// Writes data.rec, data.idx and data.lst as MXNet's im2rec does, or shards of them,
// data-00000-of-00004.rec …, whose ids continue from shard to shard.

#include <filesystem>
#include <memory>

#include "formats/dataset.h"

namespace feedrate::formats {

inline constexpr std::string_view recordio_stem = "data";

std::unique_ptr<Writer> make_recordio_writer(const std::filesystem::path& directory,
                                             const WriterOptions& options);

}  // namespace feedrate::formats
