#pragma once
// The index that DALI's wds2idx writes beside a tar of samples, one line a sample:
//
//   v1.2 2
//   cls 512 1 a/0007.cls jpg 1536 7132 a/0007.jpg         extension, offset of the data, size, name
//   cls 9216 1 a/0008.cls jpg 10240 6410 a/0008.jpg       (v1.1 has no names)
//
// It spares looking at every header of the tar, which may lie on a slow disk.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"

namespace feedrate::formats {

/// A file of a sample, as the index tells it.
struct IndexedFile {
  std::string_view extension;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::string_view name;  // empty in v1.1
};

/// Takes the next file off the front of a line. Throws Error when it is none.
IndexedFile take_indexed_file(std::string_view& line, bool named);

/// Beside the tar, as wds2idx calls it: the tar's name up to its first dot, then ".idx".
std::filesystem::path wds_index_path(const std::filesystem::path& tar);

/// What an index says of a tar, each number checked against the tar's size.
struct WdsIndex {
  bool named = false;                 // v1.2
  std::vector<std::uint64_t> lines;   // of each sample: where its line starts in the text
  std::vector<std::uint64_t> starts;  // of each sample: where its headers may start in the tar; and
                                      // behind the last one, where it ends
};

/// Throws Error naming the line when `text` is no index, or not of this tar. That its offsets are
/// those of members of the tar is seen when a sample is read.
WdsIndex parse_wds_index(std::string_view text, Bytes tar);

/// Writes the index of a tar anew (v1.2), from the tar alone, in place of one that is there. Throws
/// Error naming the file when it is damaged or compressed, or a name in it holds a space.
void write_wds_index(const std::filesystem::path& tar);

}  // namespace feedrate::formats
