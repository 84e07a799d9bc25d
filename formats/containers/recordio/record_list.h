#pragma once
// A .lst file, im2rec's list of images: "id \t label … \t name" a line. Any thread may read.

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
  /// A file that is not there is an empty list. Lines that are none of a list say nothing; audit
  /// tells of them.
  explicit RecordList(const std::filesystem::path& path);

  /// The name of the image with this id; empty when no line or more than one is about it.
  std::string_view name(std::uint64_t id) const;

  /// The image's labels as text, tabs between them; nothing when no line or several are about it.
  std::optional<std::string_view> labels(std::uint64_t id) const;

  /// Tells which lines are none of a list, and which id is on several. `known(id)` says whether
  /// there is a record with it.
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
  std::vector<Line> lines_;         // by id
  std::vector<std::uint64_t> odd_;  // numbers of the lines that are none of a list, from 1
};

}  // namespace feedrate::formats
