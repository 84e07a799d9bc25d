#pragma once
// DALI's index of a TFRecord file (tfrecord2idx): a line "offset length" for each record, frame
// included. Stateless.

#include <cstdint>
#include <filesystem>
#include <string>

#include "formats/base/offsets.h"

namespace feedrate::formats {

/// The path of "train-00000-of-00004.idx" for that shard, whether it exists or not.
std::filesystem::path tfrecord_index_of(const std::filesystem::path& records);

/// Where each record starts, and where the last one ends. Throws Error naming the line when the
/// records do not follow each other from 0 to `file_size`. Reading a record checks that the file
/// agrees.
Offsets read_tfrecord_index(const std::filesystem::path& index, std::uint64_t file_size);

void append_tfrecord_index_line(std::uint64_t offset, std::uint64_t length, std::string& text);

}  // namespace feedrate::formats
