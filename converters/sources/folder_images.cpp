#include "converters/sources/folder_images.h"

#include <algorithm>
#include <vector>

#include "converters/archive.h"
#include "converters/imagenet/image_entries.h"
#include "converters/imagenet/imagenet_files.h"
#include "formats/base/clutter.h"
#include "formats/base/error.h"
#include "formats/containers/folder/folder_files.h"
#include "formats/io/file.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t max_image_bytes = std::uint64_t{256} << 20;
constexpr std::size_t max_nested = 8;  // an archive may hold itself
constexpr int max_levels = 32;         // so may a directory, by a link

constexpr std::string_view archive_endings[] = {".tar",    ".tgz",     ".tbz",    ".tbz2",
                                                ".txz",    ".tzst",    ".tar.gz", ".tar.bz2",
                                                ".tar.xz", ".tar.zst", ".zip"};

// "a/train.TAR.gz" → "a/train"; empty for a file that is not named like an archive.
std::string_view without_archive_ending(std::string_view path) {
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a | 0x20 : a) == b; };
  for (const std::string_view ending : archive_endings) {
    if (path.size() <= ending.size()) continue;
    const std::string_view front = path.substr(0, path.size() - ending.size());
    if (std::ranges::equal(path.substr(front.size()), ending, same)) return front;
  }
  return {};
}

// True where a part of the path begins with a dot, or is what macOS adds to zips.
bool is_hidden(std::string_view path) {
  return path.starts_with('.') || path.find("/.") != std::string_view::npos || is_clutter(path);
}

class ArchiveImages final : public FolderImages {
 public:
  explicit ArchiveImages(const fs::path& file) {
    open_.push_back({std::make_unique<Archive>(file), {}});
    if (open_.back().archive->single()) {
      fail(file, "is neither a directory nor a tar or zip of images");
    }
  }

  bool next() override {
    while (!open_.empty()) {
      Archive& archive = *open_.back().archive;
      const bool more = archive.next();
      expect_no_links(archive);
      for (const std::string& name : archive.take_directories()) {
        add_directory(open_.back().prefix + clean(name, archive));
      }
      if (!more) {
        open_.pop_back();
      } else if (take(archive)) {
        return true;
      }
    }
    return false;
  }

  const std::string& path() const override { return path_; }

  Bytes bytes(Buffer& storage) override {
    open_.back().archive->read_all(storage, max_image_bytes);
    return storage;
  }

 private:
  struct Open {
    std::unique_ptr<Archive> archive;
    std::string prefix;  // of the paths in it
  };

  // True for an image; goes into an archive.
  bool take(Archive& archive) {
    path_ = open_.back().prefix + clean(archive.name(), archive);
    const std::string_view inner = without_archive_ending(path_);
    if (is_hidden(path_)) {
      pass_over();
    } else if (!inner.empty()) {
      if (open_.size() == max_nested) fail(archive.place(), "lies in too many archives");
      std::string prefix(inner);
      prefix += '/';
      open_.push_back({std::make_unique<Archive>(archive), std::move(prefix)});
      if (open_.back().archive->single()) {
        fail(open_.back().archive->place(), "is named like an archive, but is none");
      }
    } else if (has_image_extension(path_)) {
      return true;
    } else {
      pass_over();
    }
    return false;
  }

  // An entry's name without "./" and empty parts.
  static std::string clean(std::string_view rest, const Archive& archive) {
    std::string cleaned;
    while (!rest.empty()) {
      const std::string_view part = rest.substr(0, rest.find('/'));
      rest.remove_prefix(std::min(rest.size(), part.size() + 1));
      if (part.empty() || part == ".") continue;
      if (part == "..") fail(archive.place(), "leads out of the archive");
      if (!cleaned.empty()) cleaned += '/';
      cleaned += part;
    }
    return cleaned;
  }

  void pass_over() {
    if (passed_over++ == 0) first_passed_over = path_;
    if (const std::size_t slash = path_.rfind('/'); slash != std::string::npos) {
      add_directory(path_.substr(0, slash));
    }
  }
  void add_directory(std::string path) {
    if (!path.empty() && !is_hidden(path + '/')) directories.insert(std::move(path));
  }

  std::vector<Open> open_;  // from the outermost to the one being read
  std::string path_;
};

class DirectoryImages final : public FolderImages {
 public:
  explicit DirectoryImages(const fs::path& directory) : directory_(directory) {
    constexpr auto how = fs::directory_options::follow_directory_symlink;
    const std::size_t front = (directory / "").native().size();
    for (fs::recursive_directory_iterator at(directory, how), end; at != end; ++at) {
      const fs::directory_entry& entry = *at;
      std::string path = entry.path().native().substr(front);
      if (at.depth() > max_levels) {
        fail(entry.path(), "is more than ", max_levels, " levels deep; does a link lead back?");
      }
      if (entry.is_directory()) {
        if (!is_hidden(path + '/')) directories.insert(std::move(path));
      } else if (!is_hidden(path) && has_image_extension(path)) {
        paths_.push_back(std::move(path));
      } else if (passed_over++ == 0) {
        first_passed_over = std::move(path);
      }
    }
    std::ranges::sort(paths_);
  }

  bool next() override {
    if (next_ == paths_.size()) return false;
    ++next_;
    return true;
  }
  const std::string& path() const override { return paths_[next_ - 1]; }
  Bytes bytes(Buffer& storage) override { return read_folder_image(directory_ / path(), storage); }

 private:
  fs::path directory_;
  std::vector<std::string> paths_;
  std::size_t next_ = 0;  // one past the current image
};

}  // namespace

Bytes read_folder_image(const fs::path& file, Buffer& storage) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status) && fs::is_symlink(file)) fail(file, "is a link to what is not there");
  if (fs::exists(status) && !fs::is_regular_file(status)) fail(file, "is not a regular file");
  if (fs::file_size(file, error) > max_image_bytes && !error) {
    fail(file, "is larger than any image");
  }
  read_file(file, storage);
  return storage;
}

std::unique_ptr<FolderImages> open_folder_images(const fs::path& path) {
  if (fs::is_directory(path)) return std::make_unique<DirectoryImages>(path);
  return std::make_unique<ArchiveImages>(path);
}

}  // namespace feedrate::converters
