#include "formats/containers/png_map/png_map_writer.h"

#include <fmt/format.h>

#include <cassert>

#include "formats/base/error.h"
#include "formats/containers/shards.h"
#include "formats/io/file.h"
#include "formats/means/mean_format.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

std::unique_ptr<Writer> make_png_map_writer(const fs::path& directory,
                                            const WriterOptions& options) {
  return std::make_unique<PngMapWriter>(directory, options);
}

}  // namespace feedrate::formats
