#include "formats/containers/folder/folder_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <functional>
#include <unordered_set>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/containers/folder/folder_files.h"
#include "formats/containers/shards.h"
#include "formats/io/file.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

// The file that lists the names written so far, zero-terminated, until the dataset is complete: a
// resumed writer must know which names earlier samples took, apart from those that it will write
// again.
constexpr std::string_view names_file = ".written";

constexpr std::size_t max_name_bytes = 255;  // limit of file systems
constexpr std::size_t label_digits = 5;
constexpr std::int32_t largest_label = 99'999;

bool is_plain(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.size() <= max_name_bytes &&
         name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

// True when names are plain file names that sort in the order of the classes.
bool can_be_directories(const std::vector<std::string>& names) {
  return std::all_of(names.begin(), names.end(), is_plain) &&
         std::adjacent_find(names.begin(), names.end(), std::greater_equal<>()) == names.end();
}

// For JPEG "x.JPEG" stays, for PNG it becomes "x.png"; "v1.2" becomes "v1.2.png".
std::string with_extension(std::string_view name, const Codec& codec) {
  const std::size_t dot = has_image_extension(name) ? name.rfind('.') : name.size();
  std::string extension(name.substr(std::min(dot + 1, name.size())));
  std::transform(extension.begin(), extension.end(), extension.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  // A codec's own name counts as well: "jpg" and "jpeg".
  if (extension == codec.extension() || extension == codec.name()) return std::string(name);
  return join(name.substr(0, dot), '.', codec.extension());
}

class FolderWriter final : public Writer {
 public:
  FolderWriter(const fs::path& directory, const WriterOptions& options)
      : directory_(directory),
        first_(options.first),
        codec_(options.codec),
        classes_(can_be_directories(options.classes.names) ? options.classes.names
                                                           : std::vector<std::string>()),
        names_(open_names(directory, options.resume)) {
    if (options.resume != nullptr) recall(*options.resume);
    for (const std::string& name : classes_) make_directory(name);
  }

  void add(const Sample& sample) override {
    assert(codec_ == nullptr || sample.codec == codec_);
    const std::string path = free_path(sample);
    OutputFile image(directory_ / path);
    image.write(sample.bytes);
    image.close();
    names_.write(path);
    names_.write(std::string_view("\0", 1));
    ++count_;
  }

  WriterState pause() override {
    names_.flush();
    return {count_, {{std::string(names_file), names_.position()}}};
  }

  void finish(const MeanImage*) override {
    names_.close();
    std::error_code error;
    fs::remove(names_.path(), error);
    if (error) fail_errno(names_.path(), "cannot remove", error.value());
    if (classes_.empty()) fill_gaps();
  }

 private:
  static OutputFile open_names(const fs::path& directory, const WriterState* resume) {
    const fs::path path = directory / names_file;
    if (resume == nullptr || resume->samples == 0) return OutputFile(path);
    return {path, resumed_size(*resume, names_file, directory)};
  }

  void recall(const WriterState& state) {
    const std::string names = read_text(names_.path());
    for (std::size_t at = 0; at < names.size(); ++count_) {
      const std::string_view name = names.c_str() + at;
      taken_.insert(std::hash<std::string_view>()(name));
      at += name.size() + 1;
    }
    if (count_ != state.samples) {
      fail(names_.path(), "cannot go on writing: it names ", count_, " samples of ", state.samples);
    }
  }

  std::string free_path(const Sample& sample) {
    const std::string directory = directory_of(sample.label);
    const std::string index = fmt::format("{:08}", first_ + count_);
    std::string_view base = sample.name.substr(sample.name.rfind('/') + 1);
    if (!is_plain(base) || base.size() + index.size() + 8 > max_name_bytes) base = index;
    const std::string name = with_extension(base, *sample.codec);
    std::string path = join(directory, '/', name);
    if (take(path)) return path;
    const std::size_t dot = name.rfind('.');
    path = join(directory, '/', name.substr(0, dot), '_', index, name.substr(dot));
    if (take(path)) return path;
    fail(directory_ / path, "sample ", first_ + count_, ": another sample has this name already");
  }

  bool take(std::string_view path) {
    return taken_.insert(std::hash<std::string_view>()(path)).second;
  }

  std::string directory_of(std::int32_t label) {
    const auto known = static_cast<std::int32_t>(classes_.size());
    if (label < 0 || label > largest_label || (known != 0 && label >= known)) {
      fail(directory_, "sample ", first_ + count_, ": the label ", label,
           " is not a class from 0 to ", known != 0 ? known - 1 : largest_label);
    }
    if (known != 0) return classes_[static_cast<std::size_t>(label)];
    const auto at = static_cast<std::size_t>(label);
    if (made_.size() <= at) made_.resize(at + 1);
    std::string name = name_of(label);
    if (!made_[at]) make_directory(name);
    made_[at] = true;
    return name;
  }

  static std::string name_of(std::int32_t label) {
    return fmt::format("{:0{}}", label, label_digits);
  }

  void make_directory(const std::string& name) const {
    std::error_code error;
    fs::create_directory(directory_ / name, error);
    if (error) fail_errno(directory_ / name, "cannot make the directory", error.value());
  }

  // Includes classes whose samples were written before this writer resumed.
  void fill_gaps() const {
    std::int32_t largest = -1;
    for (const auto& entry : fs::directory_iterator(directory_)) {
      const auto label = parse_number<std::int32_t>(entry.path().filename().string());
      largest = std::max(largest, label.value_or(-1));
    }
    for (std::int32_t label = 0; label < largest; ++label) make_directory(name_of(label));
  }

  fs::path directory_;
  std::uint64_t first_;
  const Codec* codec_;
  std::vector<std::string> classes_;  // names of directories; empty where they are numbers
  OutputFile names_;
  std::uint64_t count_ = 0;
  std::unordered_set<std::size_t> taken_;  // hashes of paths; a collision only lengthens a name
  std::vector<bool> made_;                 // numbered directories that exist
};

}  // namespace

std::unique_ptr<Writer> make_folder_writer(const fs::path& directory,
                                           const WriterOptions& options) {
  return std::make_unique<FolderWriter>(directory, options);
}

}  // namespace feedrate::formats
