#include "formats/containers/tfrecord/tfrecord_index.h"

#include <fmt/format.h>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/containers/tfrecord/tf_record.h"
#include "formats/io/mapped_file.h"

namespace feedrate::formats {

std::filesystem::path tfrecord_index_of(const std::filesystem::path& records) {
  std::filesystem::path index = records;
  return index += ".idx";
}

Offsets read_tfrecord_index(const std::filesystem::path& index, std::uint64_t file_size) {
  const MappedFile file(index);
  std::string_view text = as_text(file.bytes());
  Offsets starts(file_size, count_lines(text) + 1);
  std::uint64_t end = 0;
  for (std::uint64_t line = 1; !text.empty(); ++line) {
    const std::string_view numbers = take_line(text);
    const std::size_t space = std::min(numbers.find(' '), numbers.size());
    const auto offset = parse_number<std::uint64_t>(numbers.substr(0, space));
    const auto length =
        parse_number<std::uint64_t>(numbers.substr(std::min(space + 1, numbers.size())));
    if (!offset || !length)
      fail(index, "line ", line, ": expected an offset, a space and a length");
    if (*offset != end) {
      fail(index, "line ", line, ": the record before ends at byte ", end, ", this one starts at ",
           *offset);
    }
    if (*length < tf_record_frame || *length > file_size - end) {
      fail(index, "line ", line, ": no record of ", *length, " bytes can start at byte ", end,
           " of ", file_size);
    }
    starts.push_back(end);
    end += *length;
  }
  if (end != file_size) {
    fail(index, "ends at byte ", end, " of ", file_size, "; does it belong to this file?");
  }
  starts.push_back(end);
  return starts;
}

void append_tfrecord_index_line(std::uint64_t offset, std::uint64_t length, std::string& text) {
  fmt::format_to(std::back_inserter(text), "{} {}\n", offset, length);
}

}  // namespace feedrate::formats
