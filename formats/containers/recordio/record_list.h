#pragma once
// A .lst file, im2rec's list of images: lines "id \t label … \t name". Any thread may read.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/base/offsets.h"
#include "formats/dataset.h"
#include "formats/io/mapped_file.h"

namespace feedrate::formats {

class RecordList {
 public:
  RecordList() = default;
  /// A file that does not exist is an empty list. Lines that are malformed are ignored; audit()
  /// reports them.
  explicit RecordList(const std::filesystem::path& path);

  /// The name of the image with this id; empty when there is no line for it, or more than one.
  std::string_view name(std::uint64_t id) const;

  /// The image's labels as tab-separated text; nothing when there is no line for it, or several.
  std::optional<std::string_view> labels(std::uint64_t id) const;

  /// Start to bring the place of the line into the processor's cache, and then the line, if the
  /// list is in the order of the images, of which this is number `image`.
  void prefetch_place(std::uint64_t image) const;
  void prefetch_line(std::uint64_t image) const;

  /// Reports malformed lines and ids on several lines. `known(id)` says whether a record has that
  /// id.
  void audit(const std::function<bool(std::uint64_t id)>& known,
             const std::function<void(Finding)>& found) const;

 private:
  struct Columns {
    std::string_view labels;
    std::string_view name;
  };

  std::uint64_t id_at(std::uint64_t start) const;
  /// Where the only line with this id starts; nothing when there is none, or several.
  std::optional<std::uint64_t> find(std::uint64_t id) const;
  Columns columns(std::uint64_t start) const;

  MappedFile file_;
  // Starts of lines in the file, by id. The ids are read from there: kept here as well, they would
  // double the memory for a large list.
  Offsets lines_;
  std::vector<std::uint64_t> malformed_;  // numbers of the malformed lines, from 1
};

}  // namespace feedrate::formats
