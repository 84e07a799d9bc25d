// MXNet's RecordIO: data.rec with image records, data.idx ("id\toffset") and data.lst
// ("id\tlabel\tname") beside it. The .rec alone is enough to read; with an .idx it need not be
// scanned. The dataset's order is that of the file.

#include <algorithm>
#include <array>
#include <cassert>
#include <fstream>

#include "formats/containers/describe.h"
#include "formats/containers/record.h"
#include "formats/containers/recordio_writer.h"
#include "formats/containers/rows.h"
#include "formats/error.h"
#include "formats/file.h"
#include "formats/text.h"

namespace feedrate {
namespace {

namespace fs = std::filesystem;

fs::path beside(fs::path file, const char* extension) { return file.replace_extension(extension); }

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// Where records start, by walking from frame to frame.
std::vector<std::uint64_t> scan(const MappedFile& file) {
  std::vector<std::uint64_t> starts;
  const Bytes bytes = file.bytes();
  try {
    for (std::uint64_t at = 0; at < bytes.size(); at = skip_record(bytes, at)) starts.push_back(at);
  } catch (const Error& error) {
    fail(file.path(), "record ", starts.size() - 1, ": ", error.what());
  }
  return starts;
}

// Where records start, as the .idx says. That each record ends where the next one starts is checked
// when it is read: looking at every record now would cost a disk access each.
std::vector<std::uint64_t> read_index(const fs::path& path, std::uint64_t size) {
  std::vector<std::uint64_t> starts;
  const std::string content = read_text(path);
  std::string_view text = content;
  for (std::uint64_t line = 1; !text.empty(); ++line) {
    std::string_view rest = take_line(text);
    const auto id = parse_number<std::uint64_t>(take_column(rest));
    const auto start = parse_number<std::uint64_t>(rest);
    if (!id || !start) fail(path, "line ", line, ": expected an id, a tab and an offset");
    if (*start % 4 != 0 || *start >= size) {
      fail(path, "line ", line, ": no record can start at byte ", *start, " of ", size);
    }
    starts.push_back(*start);
  }
  std::sort(starts.begin(), starts.end());
  if (std::adjacent_find(starts.begin(), starts.end()) != starts.end()) {
    fail(path, "names one offset twice");
  }
  if (!starts.empty() && starts.front() != 0)
    fail(path, "does not name the first record, at byte 0");
  return starts;
}

// Names of the samples from the .lst, looked up by line.
class NameList {
 public:
  // A list of another length does not tell which record is which: im2rec leaves out bad images.
  NameList(const fs::path& path, std::uint64_t records) {
    if (!is_there(path)) return;
    text_ = MappedFile(path);
    std::string_view rest = as_text(text_.bytes());
    const char* begin = rest.data();
    while (!rest.empty()) {
      lines_.push_back(static_cast<std::uint64_t>(rest.data() - begin));
      take_line(rest);
    }
    if (lines_.size() != records) lines_.clear();
  }

  // The name of record `index`, or nothing when its line is about another id.
  std::string_view name(std::uint64_t index, std::uint64_t id) const {
    if (lines_.empty()) return {};
    std::string_view rest = as_text(text_.bytes()).substr(lines_[index]);
    std::string_view line = take_line(rest);
    const std::size_t last_tab = line.rfind('\t');
    if (last_tab == std::string_view::npos) return {};
    const std::string_view name = line.substr(last_tab + 1);
    return parse_number<std::uint64_t>(take_column(line)) == id ? name : std::string_view();
  }

 private:
  MappedFile text_;
  std::vector<std::uint64_t> lines_;
};

class RecordioDataset final : public Dataset {
 public:
  RecordioDataset(const fs::path& path, const fs::path& data)
      : file_(data), starts_(find_starts(file_)), names_(beside(data, ".lst"), starts_.size()) {
    if (starts_.empty()) fail(data, "holds no records");
    info_.path = path;
    info_.format = recordio_container.name();
    info_.size = starts_.size();
    Scratch scratch;
    complete_info(info_, *this, [&] { return image_record(0, scratch).image; });
  }

  Sample read(std::uint64_t index, Scratch& scratch) const override {
    try {
      const ImageRecord record = image_record(index, scratch);
      Sample sample;
      sample.bytes = record.image;
      sample.codec = &codec_for(record.image);
      sample.shape = sample.codec->shape(record.image);
      sample.label = record.label;
      sample.name = names_.name(index, record.id);
      return sample;
    } catch (const Error& error) {
      fail(file_.path(), "sample ", index, " (byte ", starts_[index], "): ", error.what());
    }
  }

 private:
  static std::vector<std::uint64_t> find_starts(const MappedFile& file) {
    const fs::path index = beside(file.path(), ".idx");
    return is_there(index) ? read_index(index, file.bytes().size()) : scan(file);
  }

  ImageRecord image_record(std::uint64_t index, Scratch& scratch) const {
    assert(index < starts_.size());
    const Record record = read_record(file_.bytes(), starts_[index], scratch.bytes);
    const bool is_last = index + 1 == starts_.size();
    const std::uint64_t next = is_last ? file_.bytes().size() : starts_[index + 1];
    if (record.end != next) {
      throw Error(join("the record ends at byte ", record.end, ", but ",
                       is_last ? "the file" : "the next one", " is at ", next,
                       "; does the .idx belong to this file?"));
    }
    return parse_image_record(record.payload);
  }

  MappedFile file_;
  std::vector<std::uint64_t> starts_;
  NameList names_;
};

class RecordioContainer final : public Container {
 public:
  RecordioContainer()
      : Container("recordio", "MXNet: one .rec file of image records, with .idx and .lst") {}

  bool knows(const fs::path& path) const override {
    const fs::path data = data_file(path);
    if (data.extension() == ".rec") return is_there(data);
    std::ifstream file(data, std::ios::binary);
    std::array<char, record_head> start{};
    return file.read(start.data(), start.size()) && is_recordio(std::as_bytes(std::span(start)));
  }

  std::unique_ptr<Dataset> open(const fs::path& path) const override {
    return std::make_unique<RecordioDataset>(path, data_file(path));
  }

  std::unique_ptr<Writer> create(const fs::path& directory,
                                 const WriterOptions& options) const override {
    return make_recordio_writer(directory, options);
  }

  bool accepts(const Codec& codec) const override {
    return &codec == &png_codec || &codec == &jpeg_codec;
  }
  const Codec& default_codec() const override { return png_codec; }
  bool wants_mean() const override { return true; }

 private:
  static fs::path data_file(const fs::path& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored) ? path / recordio_data : path;
  }
};

const RecordioContainer row;

}  // namespace

const Container& recordio_container = row;

}  // namespace feedrate
