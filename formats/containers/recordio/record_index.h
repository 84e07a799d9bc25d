#pragma once
// MXNet's .idx file: a line "id \t offset" for each record of the .rec beside it. Stateless.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "formats/base/offsets.h"
#include "formats/dataset.h"
#include "formats/io/file.h"

namespace feedrate::formats {

/// Where a record starts, and its id according to the .idx (or its own header).
struct RecordPlace {
  std::uint64_t start = 0;
  std::uint64_t id = 0;
};

/// Where records start, in the order of the file, which has `file_size` bytes. The reader checks
/// later that each record ends where the next one starts: checking all of them now would cost a disk
/// access each. Throws Error naming the line.
Offsets read_record_starts(const std::filesystem::path& index, std::uint64_t file_size);
/// The same with the ids.
std::vector<RecordPlace> read_record_index(const std::filesystem::path& index,
                                           std::uint64_t file_size);

/// Where every record starts, found by walking from frame to frame. Throws Error (without the
/// file's name) naming the record on damage.
Offsets scan_record_starts(Bytes file);
/// The same with the id in each header (0 where the payload is too short for one).
std::vector<RecordPlace> scan_records(Bytes file);

/// Reports where the index and the records, found by a scan, differ.
void audit_record_index(const std::filesystem::path& index, const std::vector<RecordPlace>& scanned,
                        std::uint64_t file_size, const std::function<void(Finding)>& found);

/// Replaces the index of a .rec, using its records alone. When ids in the headers repeat or records
/// hold no image, records are numbered as tools/rec2idx.py does.
void write_record_index(const std::filesystem::path& records);

void append_index_line(const RecordPlace& place, std::string& text);

/// The path of "data.idx" for "data.rec", whether it exists or not; likewise other extensions.
std::filesystem::path beside_records(std::filesystem::path records, const char* extension);

}  // namespace feedrate::formats
