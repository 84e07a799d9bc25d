#pragma once
// Any entry of a zip, at once: the central directory at its end is read when it is opened.
//
//   local header + data │ local header + data │ … │ central directory │ end record

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <unordered_map>

#include "formats/base/bytes.h"
#include "formats/io/mapped_file.h"

namespace feedrate::formats {

/// Stored and deflated entries, zip64 too. Any thread may read. Believes no number: sizes are held
/// against the file's, and against what deflate can make of so many bytes.
class ZipIndex {
 public:
  /// Throws Error naming the file when it is no zip, cut short, or one of several volumes.
  explicit ZipIndex(const std::filesystem::path& path);

  std::size_t size() const { return entries_.size(); }
  const std::filesystem::path& path() const { return file_.path(); }

  /// The whole entry, its CRC checked: where it lies in the file when it is stored, else in
  /// `storage`, which only ever grows. Throws Error, which does not name the file, when there is no
  /// such entry, it is damaged, encrypted or compressed in another way.
  Bytes read(std::string_view name, Buffer& storage) const;

 private:
  struct Entry {
    std::uint64_t header = 0;  // of the local header
    std::uint64_t packed = 0;  // bytes in the file
    std::uint64_t size = 0;    // bytes of the content
    std::uint32_t crc = 0;
    std::uint16_t method = 0;
    std::uint16_t flags = 0;
  };
  struct Directory {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint64_t entries = 0;
  };

  Directory find_directory() const;
  Directory read_zip64(std::uint64_t end_record) const;
  void read_directory(const Directory& directory);
  static void read_zip64_extra(Bytes extra, Entry& entry);
  Bytes data_of(const Entry& entry, std::string_view name) const;

  MappedFile file_;
  std::unordered_map<std::string_view, Entry> entries_;  // names lie in the file
};

}  // namespace feedrate::formats
