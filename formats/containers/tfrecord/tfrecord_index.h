#pragma once
// DALI's index of a TFRecord file (tfrecord2idx): a line "offset length" for each record, its frame
// included. Stateless.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace feedrate::formats {

/// "train-00000-of-00004.idx" for that shard. Exists or not.
std::filesystem::path tfrecord_index_of(const std::filesystem::path& records);

/// Where each record starts, and behind the last one where it ends. Throws Error naming the line
/// when the records do not lie one behind the other from 0 to `file_size`. Whether the file agrees
/// is seen when a record is read.
std::vector<std::uint64_t> read_tfrecord_index(const std::filesystem::path& index,
                                               std::uint64_t file_size);

void append_tfrecord_index_line(std::uint64_t offset, std::uint64_t length, std::string& text);

}  // namespace feedrate::formats
