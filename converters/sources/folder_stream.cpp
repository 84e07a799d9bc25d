#include "converters/sources/folder_stream.h"

#include <algorithm>
#include <mutex>
#include <optional>

#include "converters/imagenet/image_entries.h"
#include "converters/sources/folder_images.h"
#include "converters/sources/folder_layout.h"
#include "formats/base/counted.h"
#include "formats/base/error.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;

struct Listing {
  FolderLayout layout;
  std::uint64_t passed_over = 0;
  std::string first_passed_over;
};

std::shared_ptr<const Listing> read_listing(const fs::path& where) {
  const std::unique_ptr<FolderImages> images = open_folder_images(where);
  std::vector<std::string> paths;
  while (images->next()) paths.push_back(images->path());
  return std::make_shared<const Listing>(
      Listing{FolderLayout(where.string(), std::move(paths), images->directories),
              images->passed_over, images->first_passed_over});
}

// Asked for the splits first, then for one: to list a compressed archive takes as long as to unpack
// it, so the last listing of a file is kept.
std::shared_ptr<const Listing> listing_of(const fs::path& where) {
  if (fs::is_directory(where)) return read_listing(where);
  struct Known {
    fs::path path;
    std::uintmax_t size = 0;
    fs::file_time_type time;
    bool operator==(const Known&) const = default;
  };
  static std::mutex mutex;
  static Known known;
  static std::shared_ptr<const Listing> kept;
  const std::scoped_lock lock(mutex);
  const Known asked{fs::absolute(where), fs::file_size(where), fs::last_write_time(where)};
  if (kept == nullptr || !(asked == known)) {
    kept = nullptr;
    kept = read_listing(where);
    known = asked;
  }
  return kept;
}

// The facts of a folder that its listing tells before an image is read.
class FolderStream : public SampleStream {
 public:
  const StreamInfo& info() const override { return info_; }
  std::string_view problem() const override { return problem_; }

 protected:
  FolderStream(const FolderInput& input, const Listing& listing, std::string_view split) {
    std::optional<LabelList> list;
    if (!input.labels.empty()) list.emplace(input.labels).fit(listing.layout.paths());
    split_ = listing.layout.split(split, list ? &*list : nullptr);
    info_.size = split_.absent.size() + split_.images;
    info_.classes = split_.classes;
    info_.class_names.names = split_.class_names;
    if (listing.passed_over > 0) {
      info_.notes.push_back(join("passed over ",
                                 counted_as(listing.passed_over, "file that is no image: ",
                                            "files that are no images, the first: "),
                                 listing.first_passed_over));
    }
    if (const FolderLayout& layout = listing.layout; layout.beside() > 0) {
      info_.notes.push_back(join("passed over ",
                                 counted_as(layout.beside(), "image beside the splits: ",
                                            "images beside the splits, the first: "),
                                 layout.first_beside()));
    }
    note_empty_classes();
  }

  // Names without an image come first.
  Sample absent_sample(std::size_t index) {
    problem_ = split_.absent_problem;
    Sample sample;
    sample.name = split_.absent[index];
    return sample;
  }

  Sample sample_of(Bytes image, std::size_t place, std::string_view path) {
    const bool unlisted = split_.labels[place] == FolderSplit::unlisted;
    problem_ = unlisted        ? std::string_view(split_.unlisted_problem)
               : image.empty() ? empty_image
                               : "";
    Sample sample;
    sample.bytes = image;
    sample.label = unlisted ? 0 : split_.labels[place];
    sample.name = path.substr(split_.front);
    return sample;
  }

  FolderSplit split_;
  StreamInfo info_;
  Buffer storage_;
  std::string problem_;

 private:
  // They count, and so move the numbers of those behind them: a directory of notes, for example.
  void note_empty_classes() {
    std::vector<bool> full(split_.class_names.size());
    for (const std::int32_t label : split_.labels) {
      if (label >= 0 && static_cast<std::size_t>(label) < full.size()) full[label] = true;
    }
    const auto first = std::ranges::find(full, false);
    if (first == full.end()) return;
    info_.notes.push_back(join("classes without images: ", std::ranges::count(full, false),
                               ", the first: ", split_.class_names[first - full.begin()]));
  }
};

// In the archive's own order.
class ArchiveStream final : public FolderStream {
 public:
  ArchiveStream(const FolderInput& input, const Listing& listing, std::string_view split)
      : FolderStream(input, listing, split),
        archive_(input.images),
        images_(open_folder_images(archive_)) {}

  bool next(Sample& sample) override {
    if (next_absent_ < split_.absent.size()) {
      sample = absent_sample(next_absent_++);
      return true;
    }
    do {
      if (!images_->next()) {
        if (at_ != split_.labels.size()) changed();
        return false;
      }
      if (at_ == split_.labels.size()) changed();
    } while (split_.labels[at_++] == FolderSplit::elsewhere);
    if (images_->path().size() <= split_.front) changed();
    try {
      sample = sample_of(images_->bytes(storage_), at_ - 1, images_->path());
    } catch (const Error& error) {
      sample = sample_of({}, at_ - 1, images_->path());
      problem_ = error.what();
    }
    return true;
  }

 private:
  [[noreturn]] void changed() const { fail(archive_, "changed while it was read"); }

  fs::path archive_;
  std::unique_ptr<FolderImages> images_;
  std::size_t at_ = 0;  // of the next path
  std::size_t next_absent_ = 0;
};

// Sorted, and from any place on.
class DirectoryStream final : public FolderStream {
 public:
  DirectoryStream(const FolderInput& input, std::shared_ptr<const Listing> listing,
                  std::string_view split)
      : FolderStream(input, *listing, split),
        directory_(input.images),
        listing_(std::move(listing)),
        places_(listing_->layout.sorted(split_)) {}

  bool seekable() const override { return true; }
  void seek(std::uint64_t index) override { next_ = index; }

  bool next(Sample& sample) override {
    if (next_ < split_.absent.size()) {
      sample = absent_sample(next_++);
      return true;
    }
    const std::uint64_t at = next_++ - split_.absent.size();
    if (at >= places_.size()) return false;
    const std::size_t place = places_[at];
    const std::string& path = listing_->layout.paths()[place];
    try {
      sample = sample_of(read_folder_image(directory_ / path, storage_), place, path);
    } catch (const Error& error) {
      sample = sample_of({}, place, path);
      problem_ = error.what();
    }
    return true;
  }

 private:
  fs::path directory_;
  std::shared_ptr<const Listing> listing_;
  std::vector<std::size_t> places_;  // of the split's images in the listing
  std::uint64_t next_ = 0;
};

}  // namespace

std::vector<std::string> folder_splits(const FolderInput& input) {
  return listing_of(input.images)->layout.splits();
}

fs::path folder_split_directory(const FolderInput& input, std::string_view split) {
  const std::string inner = listing_of(input.images)->layout.directory_of(split);
  return inner.empty() ? input.images : input.images / inner;
}

std::unique_ptr<SampleStream> open_folder_stream(const FolderInput& input, std::string_view split) {
  const std::shared_ptr<const Listing> listing = listing_of(input.images);
  if (fs::is_directory(input.images)) {
    return std::make_unique<DirectoryStream>(input, listing, split);
  }
  return std::make_unique<ArchiveStream>(input, *listing, split);
}

}  // namespace feedrate::converters
