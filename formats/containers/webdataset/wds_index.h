#pragma once
// The index that DALI's wds2idx writes beside a tar of samples, one line for each sample:
//
//   v1.2 2
//   cls 512 1 a/0007.cls jpg 1536 7132 a/0007.jpg         extension, offset of the data, size, name
//   cls 9216 1 a/0008.cls jpg 10240 6410 a/0008.jpg       (v1.1 has no names)
//
// It saves reading every header of the tar, which may lie on a slow disk.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "formats/base/bytes.h"
#include "formats/base/offsets.h"

namespace feedrate::formats {

/// A file of a sample, as the index describes it.
struct IndexedFile {
  std::string_view extension;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::string_view name;  // empty in v1.1
};

/// Takes the next file off the front of a line. Throws Error when there is none.
IndexedFile take_indexed_file(std::string_view& line, bool named);

/// The index's path as wds2idx chooses it: the tar's name up to its first dot, then ".idx".
std::filesystem::path wds_index_path(const std::filesystem::path& tar);

/// What an index states about a tar, with each number checked against the tar's size.
struct WdsIndex {
  bool named = false;  // v1.2
  Offsets lines;       // where each sample's line starts in the text
  Offsets starts;      // where each sample's headers may start in the tar;
                       // then the end of the last sample
};

/// Throws Error naming the line when `text` is not an index, or not of this tar. Reading a sample
/// checks that the offsets are those of members of the tar.
WdsIndex parse_wds_index(std::string_view text, Bytes tar);

/// Replaces the index of a tar (v1.2), using the tar alone. Throws Error naming the file when it is
/// damaged or compressed, or when a name in it holds a space.
void write_wds_index(const std::filesystem::path& tar);

}  // namespace feedrate::formats
