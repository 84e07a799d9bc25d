#include "formats/containers/folder/folder_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <functional>
#include <unordered_set>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/containers/folder/class_directories.h"
#include "formats/containers/folder/digest_list.h"
#include "formats/containers/folder/folder_files.h"
#include "formats/containers/shards.h"
#include "formats/io/file.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

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
        list_(open_list(directory, options.resume)) {
    if (options.resume != nullptr) recall(*options.resume);
  }

  void add(const Sample& sample) override {
    assert(codec_ == nullptr || sample.codec == codec_);
    const std::string path = free_path(sample);
    OutputFile image(directory_ / path);
    image.write(sample.bytes);
    image.close();
    list_.write(digest_line(sample.bytes, path));
    ++count_;
  }

  WriterState pause() override {
    list_.flush();
    return {count_, {{std::string(digest_list_name), list_.position()}}};
  }

  void finish(const MeanImage*) override { list_.close(); }

 private:
  static OutputFile open_list(const fs::path& directory, const WriterState* resume) {
    const fs::path path = directory / digest_list_name;
    if (resume == nullptr || resume->samples == 0) return OutputFile(path);
    return {path, resumed_size(*resume, digest_list_name, directory)};
  }

  // Which names earlier samples took, apart from those that will be written again.
  void recall(const WriterState& state) {
    const std::string text = read_text(list_.path());
    for (std::string_view rest = text; !rest.empty(); ++count_) {
      const auto path = path_in_digest_line(take_line(rest));
      if (!path) fail(list_.path(), "cannot go on writing: line ", count_ + 1, " is damaged");
      take(*path);
    }
    if (count_ != state.samples) {
      fail(list_.path(), "cannot go on writing: it lists ", count_, " samples of ", state.samples);
    }
  }

  std::string free_path(const Sample& sample) {
    const std::string directory = directory_of(sample.label);
    const std::string index = fmt::format("{:08}", first_ + count_);
    std::string_view base = sample.name.substr(sample.name.rfind('/') + 1);
    if (!is_plain_name(base) || base.size() + index.size() + 8 > max_folder_name_bytes)
      base = index;
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
    if (label < 0 || label > max_folder_label || (known != 0 && label >= known)) {
      fail(directory_, "sample ", first_ + count_, ": the label ", label,
           " is not a class from 0 to ", known != 0 ? known - 1 : max_folder_label);
    }
    const auto at = static_cast<std::size_t>(label);
    if (made_.size() <= at) made_.resize(at + 1);
    std::string name = known != 0 ? classes_[at] : numbered_directory(label);
    if (!made_[at]) make_directory(name);
    made_[at] = true;
    return name;
  }

  void make_directory(const std::string& name) const {
    std::error_code error;
    fs::create_directory(directory_ / name, error);
    if (error) fail_errno(directory_ / name, "cannot make the directory", error.value());
  }

  fs::path directory_;
  std::uint64_t first_;
  const Codec* codec_;
  std::vector<std::string> classes_;  // names of directories; empty where they are numbers
  OutputFile list_;
  std::uint64_t count_ = 0;
  std::unordered_set<std::size_t> taken_;  // hashes of paths; a collision only lengthens a name
  std::vector<bool> made_;                 // directories that exist, by label
};

}  // namespace

std::unique_ptr<Writer> make_folder_writer(const fs::path& directory,
                                           const WriterOptions& options) {
  return std::make_unique<FolderWriter>(directory, options);
}

}  // namespace feedrate::formats
