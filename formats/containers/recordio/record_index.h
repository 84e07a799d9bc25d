#pragma once
// A .idx file of MXNet: "id \t offset" a line, for each record of the .rec beside it. Stateless.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "formats/dataset.h"
#include "formats/io/file.h"

namespace feedrate::formats {

/// Where a record starts, and the id that the .idx (or its own header) gives it.
struct RecordPlace {
  std::uint64_t start = 0;
  std::uint64_t id = 0;
};

/// The places in the order of the file of `file_size` bytes. That each record ends where the next
/// one starts is for its reader to see: looking at every record now would cost a disk access each.
/// Throws Error naming the line.
std::vector<RecordPlace> read_record_index(const std::filesystem::path& index,
                                           std::uint64_t file_size);

/// Every record, by walking from frame to frame, with the id in its header (0 where the payload is
/// too short for one). Throws Error (without the file's name) naming the record on damage.
std::vector<RecordPlace> scan_records(Bytes file);

/// Tells where the index and the records, found by a scan, differ.
void audit_record_index(const std::filesystem::path& index, const std::vector<RecordPlace>& scanned,
                        std::uint64_t file_size, const std::function<void(Finding)>& found);

/// Writes the index of a .rec anew, from its records alone, in place of one that is there. Records
/// whose headers do not tell them apart, or hold no image, are numbered as tools/rec2idx.py does.
void write_record_index(const std::filesystem::path& records);

void append_index_line(const RecordPlace& place, std::string& text);

/// "data.idx" for "data.rec" and the like. Exists or not.
std::filesystem::path beside_records(std::filesystem::path records, const char* extension);

}  // namespace feedrate::formats
