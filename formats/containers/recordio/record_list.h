#pragma once
// A .lst file, im2rec's list of images: lines "id \t label … \t name". Any thread may read.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

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

  /// Reports malformed lines and ids on several lines. `known(id)` says whether a record has that
  /// id.
  void audit(const std::function<bool(std::uint64_t id)>& known,
             const std::function<void(Finding)>& found) const;

 private:
  struct Line {
    std::uint64_t id = 0;
    std::uint64_t start = 0;  // in the file
  };
  struct Columns {
    std::string_view labels;
    std::string_view name;
  };

  const Line* find(std::uint64_t id) const;
  Columns columns(const Line& line) const;

  MappedFile file_;
  std::vector<Line> lines_;               // by id
  std::vector<std::uint64_t> malformed_;  // numbers of the malformed lines, from 1
};

}  // namespace feedrate::formats
