#include "formats/containers/webdataset/wds_index.h"

#include <algorithm>
#include <optional>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/containers/webdataset/tar_sample.h"
#include "formats/io/file.h"
#include "formats/io/mapped_file.h"
#include "formats/io/tar_format.h"

namespace feedrate::formats {
namespace {

std::string_view take_word(std::string_view& line) {
  const std::size_t end = line.find(' ');
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  return word;
}

// "v1.2 90": the version of the format and the number of lines.
std::uint64_t read_head(std::string_view line, WdsIndex& index) {
  const std::string_view version = take_word(line);
  const auto count = parse_number<std::uint64_t>(line);
  if ((version != "v1.1" && version != "v1.2") || !count) {
    throw Error("expected v1.1 or v1.2 and a number of samples");
  }
  index.named = version == "v1.2";
  return *count;
}

// Checks one line; returns the end of its sample in the tar, or 0 when no file of the line belongs
// to a sample by the rules of grouping (wds2idx lists "__x__" too).
std::uint64_t check_line(std::string_view line, bool named, std::uint64_t from, std::uint64_t size,
                         std::string_view& last_key) {
  std::string_view key;
  std::uint64_t end = 0;
  do {
    const IndexedFile file = take_indexed_file(line, named);
    if (file.offset % tar_block != 0 || file.offset < from + tar_block || file.offset > size ||
        file.size > size - file.offset) {
      throw Error(
          join("no file of ", file.size, " bytes can be at byte ", file.offset, " of ", size));
    }
    from = std::min(file.offset + tar_padded(file.size), size);
    if (named) {
      const std::optional<SampleName> name = split_sample_name(file.name);
      if (!name || is_tar_metadata(file.name)) continue;
      if (!key.empty() && name->key != key)
        throw Error(join("two samples, ", key, ", ", name->key));
      key = name->key;
    }
    end = from;
  } while (!line.empty());
  if (named && end != 0 && key == last_key) throw Error(join(key, " is two samples"));
  if (end != 0) last_key = key;
  return end;
}

}  // namespace

IndexedFile take_indexed_file(std::string_view& line, bool named) {
  IndexedFile file;
  file.extension = take_word(line);
  const auto offset = take_number<std::uint64_t>(line, ' ');
  // The line may end after a size if no name follows.
  const auto size =
      named ? take_number<std::uint64_t>(line, ' ') : parse_number<std::uint64_t>(take_word(line));
  if (named && size) file.name = take_word(line);
  if (file.extension.empty() || !offset || !size || (named && file.name.empty())) {
    throw Error("expected an extension, an offset and a size" +
                std::string(named ? ", a name" : ""));
  }
  file.offset = *offset;
  file.size = *size;
  return file;
}

std::filesystem::path wds_index_path(const std::filesystem::path& tar) {
  const std::string name = tar.filename().string();
  return tar.parent_path() / (name.substr(0, name.find('.')) + ".idx");
}

WdsIndex parse_wds_index(std::string_view text, Bytes tar) {
  WdsIndex index;
  std::string_view rest = text;
  std::string_view last_key;
  std::uint64_t count = 0;
  std::uint64_t end = 0;
  std::uint64_t lines = 0;
  while (!rest.empty()) {
    const auto at = static_cast<std::uint64_t>(rest.data() - text.data());
    const std::string_view line = take_line(rest);
    try {
      if (lines++ == 0) {
        count = read_head(line, index);
        index.lines = Offsets(text.size(), count_lines(rest));
        index.starts = Offsets(tar.size(), count_lines(rest) + 1);
        continue;
      }
      const std::uint64_t sample_end = check_line(line, index.named, end, tar.size(), last_key);
      if (sample_end == 0) continue;
      index.lines.push_back(at);
      index.starts.push_back(end);
      end = sample_end;
    } catch (const Error& error) {
      throw Error(join("line ", lines, ": ", error.what()));
    }
  }
  if (lines == 0 || lines - 1 != count) {
    throw Error(join("expected ", count, " lines of samples, found ", lines == 0 ? 0 : lines - 1));
  }
  index.starts.push_back(end);
  return index;
}

void write_wds_index(const std::filesystem::path& tar) {
  if (tar.extension() != ".tar") fail(tar, "is compressed, and DALI's index is for plain tars");
  const MappedFile file(tar);
  const SinglePages headers(file.bytes());
  TarWalk walk(file.bytes());
  SampleMember member;
  std::string lines, key;
  std::uint64_t samples = 0;
  try {
    while (next_member(walk, member)) {
      const std::string& name = member.entry.name;
      if (name.find_first_of(" \n") != std::string::npos) {
        throw Error(join("the name '", name, "' holds a space, which separates words in an index"));
      }
      const bool starts_sample = samples == 0 || member.key != key;
      samples += starts_sample ? 1 : 0;
      key = member.key;
      lines += join(starts_sample ? "\n" : " ", split_sample_name(name)->extension, " ",
                    member.entry.offset, " ", member.entry.size, " ", name);
    }
  } catch (const Error& error) {
    fail(tar, error.what());
  }
  write_text(wds_index_path(tar), join("v1.2 ", samples, lines, "\n"));
}

}  // namespace feedrate::formats
