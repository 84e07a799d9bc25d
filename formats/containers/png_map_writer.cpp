#include "formats/containers/png_map_writer.h"

#include <fmt/format.h>

#include <cassert>

#include "formats/error.h"
#include "formats/file.h"
#include "formats/mean_format.h"

namespace feedrate {
namespace {

namespace fs = std::filesystem;

class PngMapWriter final : public Writer {
 public:
  PngMapWriter(const fs::path& directory, const WriterOptions& options)
      : directory_(directory),
        split_(options.split),
        codec_(*options.codec),
        map_path_(directory / (split_ + std::string(map_suffix))),
        map_(map_path_) {
    std::error_code error;
    fs::create_directory(directory / split_, error);
    if (error) fail_errno(directory / split_, "cannot make the directory", error.value());
  }

  void add(const Sample& sample) override {
    assert(sample.codec == &codec_);
    if (sample.label < 0) {
      fail(map_path_, "sample ", count_, ": a map file cannot hold the negative label ",
           sample.label);
    }
    name_.clear();
    fmt::format_to(std::back_inserter(name_), "{}/{:05}.{}", split_, count_, codec_.extension());
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
  fs::path directory_;
  std::string split_;
  const Codec& codec_;
  fs::path map_path_;
  OutputFile map_;
  std::uint64_t count_ = 0;
  std::string name_;
};

}  // namespace

std::unique_ptr<Writer> make_png_map_writer(const fs::path& directory,
                                            const WriterOptions& options) {
  return std::make_unique<PngMapWriter>(directory, options);
}

}  // namespace feedrate
