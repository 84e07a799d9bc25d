#pragma once
// feedrate.xxh128 in a folder: the digest of every image file, in the order in which Feedrate wrote
// them. Only verify reads it; `xxhsum -c feedrate.xxh128` checks the same files.
//
//   32 hex digits, two blanks, CLASS/NAME.EXT, LF        XXH3-128 of the file with seed 0

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "formats/containers/folder/folder_files.h"
#include "formats/dataset.h"

namespace feedrate::formats {

inline constexpr std::string_view digest_list_name = "feedrate.xxh128";

/// The line of a file with this content, with its LF.
std::string digest_line(Bytes content, std::string_view path);

/// The path in a line without its LF; nothing where the line is malformed.
std::optional<std::string_view> path_in_digest_line(std::string_view line);

/// The list of a folder, matched with the files that are there. Takes about 100 bytes an image.
class DigestList {
 public:
  /// A list that is missing, damaged or of other files is no Error: see exists() and findings().
  DigestList(const std::filesystem::path& folder, const FolderFiles& files);

  bool exists() const { return exists_; }
  /// Lines that cannot be understood, listed files that are not there, images that are not listed.
  const std::vector<Finding>& findings() const { return findings_; }
  /// The images, as indices of FolderFiles::images, in the order of the lines; empty unless the
  /// list names each image once and nothing else.
  const std::vector<std::uint64_t>& order() const { return order_; }
  /// Throws Error that says what was expected and found if image `index` is listed with another
  /// content. Any thread.
  void expect(std::uint64_t index, Bytes content) const;

 private:
  void read_lines(const FolderFiles& files);
  void report(std::string place, std::string problem);

  std::filesystem::path path_;
  bool exists_ = false;
  std::string text_;
  std::vector<std::uint64_t> lines_;  // for each image: where its line starts in text_
  std::vector<std::uint64_t> order_;
  std::vector<Finding> findings_;
  std::uint64_t unreported_ = 0;
};

}  // namespace feedrate::formats
