// A folder of classes: a sub-directory for each, with its images below. torchvision's ImageFolder,
// Keras and many others read it; the order is theirs. Samples are read class by class, so a dataset
// that is written here comes back in that order: its set digest stays the same, its digest does
// not. The list of digests (digest_list.h) keeps the order in which they were written.

#include <algorithm>
#include <cassert>
#include <mutex>
#include <numeric>

#include "formats/base/error.h"
#include "formats/container.h"
#include "formats/containers/describe.h"
#include "formats/containers/folder/class_directories.h"
#include "formats/containers/folder/digest_list.h"
#include "formats/containers/folder/folder_files.h"
#include "formats/containers/folder/folder_writer.h"
#include "formats/io/file.h"

namespace feedrate::formats {

extern const Container& folder_container;

namespace {

namespace fs = std::filesystem;

class FolderDataset final : public Dataset {
 public:
  explicit FolderDataset(const fs::path& path)
      : path_(path), directory_(open_directory(path)), files_(list_folder(path)) {
    if (files_.images.empty()) {
      fail(path, "holds no images in sub-directories; expected one for each class");
    }
    info_.path = path;
    info_.format = folder_container.name();
    info_.size = files_.images.size();
    Scratch scratch;
    complete_info(info_, *this, [&] { return content(0, scratch); });
    const std::vector<std::int32_t> labels_of_classes = labels();
    for (FolderFiles::Image& image : files_.images) {
      image.label = labels_of_classes[static_cast<std::size_t>(image.label)];
    }
    if (info_.sidecar) return;
    info_.classes = static_cast<std::uint32_t>(labels_of_classes.back()) + 1;
    if (info_.classes == files_.classes.size()) info_.class_names.names = files_.classes;
  }

  Sample read(std::uint64_t index, Scratch& scratch) const override {
    assert(index < info_.size);
    const FolderFiles::Image& image = files_.images[index];
    try {
      Sample sample;
      sample.bytes = content(index, scratch);
      sample.codec = &codec_for(sample.bytes);
      sample.shape = sample.codec->shape(sample.bytes);
      sample.label = image.label;
      sample.name = files_.path(image);
      return sample;
    } catch (const Error& error) {
      fail(path_ / files_.path(image), "sample ", index, ": ", error.what());
    }
  }

  std::int32_t label(std::uint64_t index, Scratch&) const override {
    return files_.images[index].label;
  }

  bool look_ahead(std::uint64_t index) const override {
    prefetch_file_at(directory_, files_.path(files_.images[index]));
    return true;
  }

  SamplePlace place(std::uint64_t index) const override {
    return {path_ / files_.path(files_.images[index]), 0};
  }

  void expect_as_written(std::uint64_t index, const Sample& sample) const override {
    digests().expect(index, sample.bytes);
  }

  std::optional<std::vector<std::uint64_t>> written_order() const override {
    if (digests().order().empty()) return std::nullopt;
    return digests().order();
  }

  void audit(const std::function<void(Finding)>& found) const override {
    for (const Finding& finding : digests().findings()) found(finding);
    if (files_.passed_over != 0) {
      found({(path_ / files_.first_passed_over).string(),
             join("is hidden, or not named like an image in a class, and was skipped",
                  files_.passed_over == 1 ? ""
                                          : join(", as were ", files_.passed_over - 1, " more"))});
    }
    if (info_.sidecar || files_.empty_classes == 0) return;  // older versions made them
    found({(path_ / files_.first_empty_class).string(),
           join("is a class without images",
                files_.empty_classes == 1 ? ""
                                          : join(", as are ", files_.empty_classes - 1, " more"))});
  }

 private:
  // By position, as for ImageFolder; but a folder of Feedrate's has no directories for classes
  // without images.
  std::vector<std::int32_t> labels() const {
    std::vector<std::int32_t> positions(files_.classes.size());
    std::iota(positions.begin(), positions.end(), 0);
    if (!info_.sidecar && !has_digest_list()) return positions;
    const std::vector<std::string>& names = info_.class_names.names;
    if (auto labels = labels_of_directories(files_.classes, names)) return std::move(*labels);
    if (names.empty()) return positions;
    fail(path_, "has ", files_.classes.size(), " directories, not all of which are among the ",
         names.size(), " classes of ", sidecar_name, "; name them as it does, or remove it");
  }

  bool has_digest_list() const {
    std::error_code ignored;
    return fs::exists(path_ / digest_list_name, ignored);
  }

  // Read when it is first needed: only verify does.
  const DigestList& digests() const {
    std::call_once(digests_read_, [&] { digests_.emplace(path_, files_); });
    return *digests_;
  }

  Bytes content(std::uint64_t index, Scratch& scratch) const {
    return read_file_at(directory_, files_.path(files_.images[index]), scratch.bytes);
  }

  fs::path path_;
  Descriptor directory_;
  FolderFiles files_;
  mutable std::once_flag digests_read_;
  mutable std::optional<DigestList> digests_;
};

class FolderContainer final : public Container {
 public:
  FolderContainer()
      : Container("folder",
                  "torchvision's ImageFolder: one directory per class, one image file per sample") {
  }

  // The last row of the registry, because many things hold images in sub-directories: it refuses
  // what another container knows, and what declares itself to be something else.
  bool knows(const fs::path& path) const override {
    if (!looks_like_classes(path)) return false;
    try {
      const std::optional<Sidecar> sidecar = read_sidecar(path);
      if (sidecar && !sidecar->format.empty() && sidecar->format != name()) return false;
    } catch (const Error&) {
      return false;
    }
    const auto rows = all_containers();
    return std::none_of(rows.begin(), rows.end(),
                        [&](const Container* row) { return row != this && row->knows(path); });
  }

  std::unique_ptr<Dataset> open(const fs::path& path) const override {
    return std::make_unique<FolderDataset>(path);
  }

  std::unique_ptr<Writer> create(const fs::path& directory,
                                 const WriterOptions& options) const override {
    return make_folder_writer(directory, options);
  }

  bool accepts(const Codec& codec) const override {
    return &codec != &packed_codec && Container::accepts(codec);
  }
  bool keeps_order() const override { return false; }
};

const FolderContainer folder_row;

}  // namespace

const Container& folder_container = folder_row;

}  // namespace feedrate::formats
