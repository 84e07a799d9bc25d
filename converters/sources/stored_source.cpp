#include "converters/sources/stored_source.h"

#include "formats/base/error.h"
#include "formats/base/without_slash.h"
#include "formats/containers/braces.h"
#include "formats/digests/digest.h"
#include "formats/io/late_bytes.h"

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
    if (info.sidecar) {
      info_.origin = info.sidecar->source;
      info_.shape = info.sidecar->shape;
      info_.label_space = info.sidecar->label_space;
      info_.notes = info.sidecar->notes;
      info_.earlier_notes = info_.notes.size();
    }
    info_.notes.insert(info_.notes.end(), info.notes.begin(), info.notes.end());
  }

  const StreamInfo& info() const override { return info_; }
  bool seekable() const override { return true; }
  void seek(std::uint64_t index) override { next_ = index; }
  bool next(Sample& sample) override {
    if (next_ >= dataset_->size()) return false;
    problem_.clear();
    forget_failed_late_bytes();
    try {
      sample = dataset_->read(next_, scratch_);
    } catch (const Error& error) {
      if (late_bytes_failed()) throw;
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

// Several files as one input: their paths and contents count, not their order or times.
class ManyFiles {
 public:
  explicit ManyFiles(fs::path directory) : directory_(std::move(directory)) {}
  void add(const fs::path& file) {
    bytes_ += fs::file_size(file);
    const fs::path name = file.lexically_relative(directory_);
    digest_.add(0, as_bytes(join(name.native(), '\n', file_hash(file))));
  }
  Sidecar::Input as_input(const fs::path& name) const {
    return {.name = name.string(), .bytes = bytes_, .hash = join("xxh128-sum:", digest_.text())};
  }

 private:
  fs::path directory_;
  std::uint64_t bytes_ = 0;
  DetailsDigest digest_;
};

// The names that a pattern stands for, without their directories.
fs::path names_in(const fs::path& pattern) {
  std::vector<fs::path> names;
  for (const std::string& name : expand_braces(pattern.string())) {
    names.push_back(without_slash(name).filename());
  }
  return brace_pattern(names);
}

}  // namespace

Sidecar::Input directory_as_input(const fs::path& directory) {
  // Classes may be links.
  constexpr auto how = fs::directory_options::follow_directory_symlink |
                       fs::directory_options::skip_permission_denied;
  ManyFiles files(directory);
  for (const auto& entry : fs::recursive_directory_iterator(directory, how)) {
    if (entry.is_regular_file()) files.add(entry.path());
  }
  return files.as_input(without_slash(directory).filename());
}

std::vector<std::string> StoredSource::inner_splits(const fs::path& path) const {
  std::vector<std::string> names;
  for (const char* name : {"train", "val", "test"}) {
    if (is_split(path / name)) names.emplace_back(name);
  }
  return names;
}

fs::path StoredSource::dataset_of(std::span<const fs::path> inputs, std::string_view split) const {
  const fs::path& path = only_input(inputs);
  return inner_splits(path).empty() ? path : path / split;
}

std::vector<std::string> StoredSource::splits(std::span<const fs::path> inputs) const {
  const fs::path& path = only_input(inputs);
  std::vector<std::string> splits = inner_splits(path);
  return splits.empty() ? std::vector{own_split(path)} : splits;
}

std::unique_ptr<SampleStream> StoredSource::open(std::span<const fs::path> inputs,
                                                 std::string_view split) const {
  return std::make_unique<DatasetStream>(open_one(dataset_of(inputs, split)));
}

std::vector<fs::path> StoredSource::files(std::span<const fs::path> inputs,
                                          std::string_view split) const {
  const fs::path path = dataset_of(inputs, split);
  if (fs::is_directory(path)) return {path};
  std::vector<fs::path> files = open_one(path)->info().files;  // of a shard or a pattern, all
  return files.empty() ? std::vector{path} : files;
}

std::vector<Sidecar::Input> StoredSource::inputs(std::span<const fs::path> paths,
                                                 std::string_view split) const {
  const fs::path path = dataset_of(paths, split);
  if (fs::is_directory(path)) return {directory_as_input(path)};
  ManyFiles files(path.parent_path());
  for (const fs::path& file : sample_files(*open_one(path))) files.add(file);
  return {files.as_input(is_brace_pattern(path) ? names_in(path) : without_slash(path).filename())};
}

}  // namespace feedrate::converters
