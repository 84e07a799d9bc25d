#pragma once
// Writes an LMDB as Caffe's tools do: the same keys, values, batches of a transaction and growth of
// the map, hence the same pages.

#include <filesystem>
#include <memory>

#include "formats/dataset.h"

namespace feedrate {

/// `data` is the file to make (no lock file is left beside it).
std::unique_ptr<Writer> make_lmdb_writer(const std::filesystem::path& data,
                                         const WriterOptions& options);

}  // namespace feedrate
