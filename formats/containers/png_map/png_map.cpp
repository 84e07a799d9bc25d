// CNTK's map file: one image on each line, "path\tlabel" or "key\tpath\tlabel"; images are files.
//
// A path that starts with "..." is relative to the map's directory. Other relative paths are, as in
// CNTK, relative to the current directory; but when the first image is missing there and exists in
// the map's directory, all are relative to the map's directory, so that a map can be opened from
// anywhere.
//
// CNTK also reads "images.zip@/inner/name" (or "@\") from a ZIP archive; here that is an Error.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <fstream>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/container.h"
#include "formats/containers/describe.h"
#include "formats/containers/shards.h"
#include "formats/io/file.h"
#include "formats/means/mean_format.h"

namespace feedrate::formats {

extern const Container& png_map_container;

namespace {

namespace fs = std::filesystem;

constexpr std::string_view map_suffix = "_map.txt";
// Bytes read of the first line to tell a map from another text file; enough for the longest path.
constexpr std::size_t max_line_bytes = 4096;

struct Line {
  std::string_view path;
  std::int32_t label = 0;
};

// True when a separator follows an '@'; any other '@' is part of a name.
bool is_inside_a_zip(std::string_view path) {
  return path.find("@/") != std::string_view::npos || path.find("@\\") != std::string_view::npos;
}

// Throws an Error that says what is wrong with the line; the caller adds where it is.
Line parse_line(std::string_view text) {
  const auto columns = std::count(text.begin(), text.end(), '\t') + 1;
  if (columns != 2 && columns != 3) {
    throw Error(join("expected 2 or 3 tab-separated columns (path, label), found ", columns));
  }
  if (columns == 3) take_column(text);  // the key, which CNTK uses to join inputs
  Line line;
  line.path = take_column(text);
  const auto label = parse_number<std::int32_t>(text);
  if (!label || *label < 0) throw Error(join("the label '", text, "' is not a class number"));
  if (line.path.empty()) throw Error("the path is empty");
  // A system call would cut the path off there and open another file.
  if (line.path.find('\0') != std::string_view::npos) throw Error("the path holds a zero byte");
  if (is_inside_a_zip(line.path)) {
    throw Error(join("'", line.path,
                     "': images inside a ZIP archive are not read; unzip it and let ",
                     "the map name the files"));
  }
  line.label = *label;
  return line;
}

std::vector<fs::path> map_files(const fs::path& directory) {
  std::vector<fs::path> maps;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(map_suffix) && entry.is_regular_file(ignored)) maps.push_back(entry.path());
  }
  std::sort(maps.begin(), maps.end());
  return maps;
}

fs::path the_map_of(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return path;
  const std::vector<fs::path> maps = map_files(path);
  if (maps.size() == 1) return maps.front();
  std::string names;
  for (const fs::path& map : maps) names += join(names.empty() ? "" : ", ", map.filename());
  fail(path, "holds several datasets, name one: ", names);
}

class PngMapDataset final : public Dataset {
 public:
  PngMapDataset(const fs::path& path, const fs::path& map)
      : map_(map),
        text_(read_text(map)),
        beside_map_(open_directory(fs::absolute(map).parent_path())) {
    read_lines();
    if (entries_.empty()) fail(map, "holds no lines");
    choose_directory();
    info_.path = path;
    info_.format = png_map_container.name();
    info_.size = entries_.size();
    Scratch scratch;
    complete_info(info_, *this, [&] { return file_content(0, scratch); });
  }

  Sample read(std::uint64_t index, Scratch& scratch) const override {
    try {
      Sample sample;
      sample.bytes = file_content(index, scratch);
      sample.codec = &codec_for(sample.bytes);
      sample.shape = sample.codec->shape(sample.bytes);
      sample.label = entries_[index].label;
      sample.name = path_of(entries_[index]);
      return sample;
    } catch (const Error& error) {
      fail(map_, "line ", index + 1, " (sample ", index, ", ", path_of(entries_[index]),
           "): ", error.what());
    }
  }

  std::int32_t label(std::uint64_t index, Scratch&) const override { return entries_[index].label; }

  bool look_ahead(std::uint64_t index) const override {
    const Entry& entry = entries_[index];
    prefetch_file_at(directory_of(entry), path_of(entry));
    return true;
  }

  SamplePlace place(std::uint64_t index) const override {
    const bool from_map = entries_[index].from_map || !current_;
    const fs::path seen_from = from_map ? fs::absolute(map_).parent_path() : fs::path();
    return {seen_from / path_of(entries_[index]), 0};
  }

 private:
  struct Entry {
    std::uint64_t path = 0;  // in text_, zero-terminated
    std::int32_t label = 0;
    bool from_map = false;  // relative to the map's directory
  };

  void read_lines() {
    std::string_view rest = text_;
    for (std::uint64_t number = 1; !rest.empty(); ++number) {
      try {
        add_line(parse_line(take_line(rest)));
      } catch (const Error& error) {
        fail(map_, "line ", number, ": ", error.what());
      }
    }
  }

  void add_line(Line line) {
    Entry entry;
    entry.label = line.label;
    entry.from_map = line.path.starts_with("...");
    if (entry.from_map) {
      line.path.remove_prefix(3);
      line.path.remove_prefix(std::min(line.path.find_first_not_of("/\\"), line.path.size()));
    }
    entry.path = static_cast<std::uint64_t>(line.path.data() - text_.data());
    // The tab behind the path becomes the zero that system calls need.
    text_[entry.path + line.path.size()] = '\0';
    entries_.push_back(entry);
  }

  void choose_directory() {
    const auto relative = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
      return !entry.from_map && *path_of(entry) != '/';
    });
    if (relative == entries_.end()) return;
    const char* first = path_of(*relative);
    const bool here = ::access(first, F_OK) == 0;
    const bool there = ::faccessat(beside_map_.number(), first, F_OK, 0) == 0;
    if (here || !there) current_ = open_directory(".");
  }

  const char* path_of(const Entry& entry) const { return text_.data() + entry.path; }

  Bytes file_content(std::uint64_t index, Scratch& scratch) const {
    assert(index < entries_.size());
    const Entry& entry = entries_[index];
    return read_file_at(directory_of(entry), path_of(entry), scratch.bytes);
  }

  const Descriptor& directory_of(const Entry& entry) const {
    return entry.from_map || !current_ ? beside_map_ : current_;
  }

  fs::path map_;
  std::string text_;
  Descriptor beside_map_;
  Descriptor current_;  // open when paths are relative to the current directory
  std::vector<Entry> entries_;
};

// Writes <split>/00000.png …, <split>_map.txt and, given a mean image, mean.xml.
class PngMapWriter final : public Writer {
 public:
  PngMapWriter(const fs::path& directory, const WriterOptions& options)
      : directory_(directory),
        split_(options.split),
        codec_(options.codec),
        map_path_(directory / (split_ + std::string(map_suffix))),
        map_(open_map(map_path_, options.resume)),
        first_(options.first),
        count_(options.resume != nullptr ? options.resume->samples : 0) {
    std::error_code error;
    fs::create_directory(directory / split_, error);
    if (error) fail_errno(directory / split_, "cannot make the directory", error.value());
  }

  void add(const Sample& sample) override {
    assert(codec_ == nullptr || sample.codec == codec_);
    const std::uint64_t index = first_ + count_;
    if (sample.label < 0) {
      fail(map_path_, "sample ", index, ": a map file cannot hold the negative label ",
           sample.label);
    }
    name_.clear();
    fmt::format_to(std::back_inserter(name_), "{}/{:05}.{}", split_, index,
                   sample.codec->extension());
    OutputFile image(directory_ / name_);
    image.write(sample.bytes);
    image.close();
    // "..." is the map's own directory, so that the dataset can be moved.
    map_.write(fmt::format(".../{}\t{}\n", name_, sample.label));
    ++count_;
  }

  WriterState pause() override {
    map_.flush();
    return {count_, {{map_path_.filename().string(), map_.position()}}};
  }

  void finish(const MeanImage* mean) override {
    map_.close();
    if (mean != nullptr) write_mean(directory_ / "mean.xml", *mean);
  }

 private:
  // A killed writer may have left images of later samples; they are overwritten.
  static OutputFile open_map(const fs::path& path, const WriterState* resume) {
    if (resume == nullptr || resume->samples == 0) return OutputFile(path);
    return {path, resumed_size(*resume, path.filename().string(), path.parent_path())};
  }

  fs::path directory_;
  std::string split_;
  const Codec* codec_;  // null: each sample brings its own
  fs::path map_path_;
  OutputFile map_;
  std::uint64_t first_;
  std::uint64_t count_;
  std::string name_;
};

class PngMapContainer final : public Container {
 public:
  PngMapContainer()
      : Container("png-map",
                  "CNTK: one image file per sample, a map file with labels, a mean image") {}

  bool knows(const fs::path& path) const override {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return !map_files(path).empty();
    if (path.filename().string().ends_with(map_suffix)) return fs::exists(path, ignored);
    if (path.extension() != ".txt") return false;
    std::ifstream file(path, std::ios::binary);
    std::array<char, max_line_bytes> start{};
    file.read(start.data(), start.size());
    std::string_view text(start.data(), static_cast<std::size_t>(file.gcount()));
    return take_line(text).find('\t') != std::string_view::npos;
  }

  std::unique_ptr<Dataset> open(const fs::path& path) const override {
    return std::make_unique<PngMapDataset>(path, the_map_of(path));
  }

  std::unique_ptr<Writer> create(const fs::path& directory,
                                 const WriterOptions& options) const override {
    return std::make_unique<PngMapWriter>(directory, options);
  }

  bool accepts(const Codec& codec) const override {
    return &codec != &packed_codec && Container::accepts(codec);
  }
  bool wants_mean() const override { return true; }
};

const PngMapContainer png_map_row;

}  // namespace

const Container& png_map_container = png_map_row;

}  // namespace feedrate::formats
