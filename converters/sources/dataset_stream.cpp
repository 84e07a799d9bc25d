#include "converters/sources/dataset_stream.h"

#include "formats/base/error.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;

class DatasetStream final : public SampleStream {
 public:
  explicit DatasetStream(std::unique_ptr<Dataset> dataset) : dataset_(std::move(dataset)) {
    const DatasetInfo& info = dataset_->info();
    info_.size = info.size;
    info_.classes = info.classes;
    info_.class_names = info.class_names;
    info_.codec = info.codec == raw_codec.name() ? &raw_codec : nullptr;
    if (!info.sidecar) return;
    info_.origin = info.sidecar->source;
    info_.shape = info.sidecar->shape;
    info_.label_space = info.sidecar->label_space;
    info_.notes = info.sidecar->notes;
  }

  const StreamInfo& info() const override { return info_; }
  bool seekable() const override { return true; }
  void seek(std::uint64_t index) override { next_ = index; }
  bool next(Sample& sample) override {
    if (next_ >= dataset_->size()) return false;
    problem_.clear();
    try {
      sample = dataset_->read(next_, scratch_);
    } catch (const Error& error) {
      problem_ = error.what();
      sample = {};
    }
    ++next_;
    return true;
  }
  std::string_view problem() const override { return problem_; }

 private:
  std::unique_ptr<Dataset> dataset_;
  StreamInfo info_;
  Scratch scratch_;
  std::uint64_t next_ = 0;
  std::string problem_;
};

}  // namespace

std::unique_ptr<SampleStream> open_dataset_stream(std::unique_ptr<Dataset> dataset) {
  return std::make_unique<DatasetStream>(std::move(dataset));
}

Sidecar::Input dataset_input(const fs::path& path) {
  Sidecar::Input input;
  input.name = (path.has_filename() ? path : path.parent_path()).filename().string();
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    input.bytes = fs::file_size(path, ignored);
    return input;
  }
  for (const auto& entry : fs::recursive_directory_iterator(path, ignored)) {
    if (entry.is_regular_file(ignored)) input.bytes += entry.file_size(ignored);
  }
  return input;
}

}  // namespace feedrate::converters
