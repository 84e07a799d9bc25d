#pragma once
// Mosaic's streaming dataset (MDS) with shards that are compressed as a whole, as a stream.

#include <filesystem>
#include <memory>

#include "converters/source.h"

namespace feedrate::converters {

/// True for an MDS dataset, by its directory or its index, that has such shards without their
/// unpacked files. Never throws.
bool is_packed_mds(const std::filesystem::path& path);

/// Its samples in the order of the index. One shard at a time is unpacked into memory (gzip, bzip2,
/// xz, zstd). Throws Error naming the file for another compression and for damage.
std::unique_ptr<SampleStream> open_packed_mds(const std::filesystem::path& path);

}  // namespace feedrate::converters
