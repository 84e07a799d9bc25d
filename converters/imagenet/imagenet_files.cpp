#include "converters/imagenet/imagenet_files.h"

#include <algorithm>
#include <cctype>

#include "converters/archive.h"
#include "converters/imagenet/devkit.h"
#include "formats/base/clutter.h"
#include "formats/base/error.h"
#include "formats/base/wnid.h"
#include "formats/io/partial_directory.h"
#include "formats/sidecar.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;

// Entries to look at before an archive counts as unknown. The devkit starts with a few text files.
constexpr int max_entries = 100;

enum class Content : std::uint8_t { unknown, classes, one_class, val, test, devkit, boxes };

bool starts_with_class(std::string_view name, char behind) {
  constexpr std::size_t wnid_size = 9;
  return name.size() > wnid_size && is_wnid(name.substr(0, wnid_size)) && name[wnid_size] == behind;
}

bool is_class_tar(std::string_view name) {
  return starts_with_class(name, '.') && name.ends_with(".tar");
}

Content content_of(std::string_view entry) {
  const std::string_view name = base_name(entry);
  if (is_clutter(name)) return Content::unknown;
  if (is_class_tar(name)) return Content::classes;
  if (name.ends_with(".xml")) return Content::boxes;
  if (starts_with_class(name, '_')) return Content::one_class;
  if (is_val_image(name)) return Content::val;
  if (name.starts_with("ILSVRC2012_test_")) return Content::test;
  return is_ground_truth(name) ? Content::devkit : Content::unknown;
}

Content content_of(Archive& archive) {
  for (int i = 0; i < max_entries && archive.next(); ++i) {
    const Content content = content_of(archive.name());
    if (content != Content::unknown) return content;
  }
  return Content::unknown;
}

bool may_be_archive(std::string_view name) {
  constexpr std::string_view endings[] = {".tar",    ".tgz",     ".tar.gz", ".tar.bz2",
                                          ".tar.xz", ".tar.zst", ".zip"};
  return std::ranges::any_of(endings, [&](std::string_view end) { return name.ends_with(end); });
}

std::vector<fs::path> listed(const fs::path& directory) {
  std::vector<fs::path> paths;
  std::error_code error;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    paths.push_back(entry->path());
  }
  if (error) fail(directory, "cannot list: ", error.message());
  std::ranges::sort(paths);
  return paths;
}

class Search {
 public:
  void look_at(const fs::path& input) {
    if (fs::is_directory(input)) return look_into(input, 0);
    if (fs::exists(input) && !fs::is_regular_file(input)) {
      fail(
          input,
          "is not a regular file; ImageNet's archives are read twice, first to see what they hold");
    }
    const Content content = content_of_file(input);
    if (content == Content::test) {
      fail(input, "holds the test images, which were published without labels");
    }
    if (content == Content::unknown) {
      fail(input,
           "is not part of ILSVRC2012: it holds no class tars, training or validation images, "
           "bounding boxes or ILSVRC2012_validation_ground_truth.txt of the devkit");
    }
    take(input, content);
  }

  ImagenetFiles found;

 private:
  // A directory may hold unrelated files too: they are ignored.
  void look_into(const fs::path& directory, int depth) {
    bool annotations = false;
    for (const fs::path& path : listed(directory)) {
      const std::string name = path.filename();
      if (fs::is_directory(path)) {
        if (depth < max_depth && !is_made_here(path)) look_into(path, depth + 1);
      } else if (is_class_tar(name)) {
        take(path, Content::one_class);
      } else if (is_ground_truth(name) || may_be_archive(name)) {
        take(path, content_of_file(path));
      } else {
        annotations = annotations || (name.ends_with(".xml") && !is_clutter(name));
      }
    }
    if (annotations) take(directory, Content::boxes);
  }

  // A dataset that we make or have made there, perhaps right now, holds tars of its own.
  static bool is_made_here(const fs::path& directory) {
    std::error_code ignored;
    return fs::exists(directory / PartialDirectory::mark, ignored) ||
           fs::exists(directory / sidecar_name, ignored);
  }

  static Content content_of_file(const fs::path& file) {
    if (is_ground_truth(file.filename().native())) return Content::devkit;
    Archive archive(file);
    return archive.single() ? Content::unknown : content_of(archive);
  }

  void take(const fs::path& path, Content content) {
    switch (content) {
      case Content::classes:
        found.train.push_back({path, {}});
        break;
      case Content::one_class:
        found.train.push_back({path, wnid_of(path)});
        break;
      case Content::val:
        found.val.push_back(path);
        break;
      case Content::devkit:
        found.devkit.push_back(path);
        break;
      case Content::boxes:
        if (!is_among(found.boxes, path)) found.boxes.push_back(path);
        break;
      case Content::test:
      case Content::unknown:
        break;
    }
  }

  // The same boxes may be in a directory of inputs and be given with --boxes.
  static bool is_among(const std::vector<fs::path>& paths, const fs::path& path) {
    std::error_code ignored;
    return std::ranges::any_of(
        paths, [&](const fs::path& known) { return fs::equivalent(known, path, ignored); });
  }

  static std::string wnid_of(const fs::path& file) {
    const std::string name = file.filename();
    const std::string wnid = name.substr(0, name.find('.'));
    if (is_wnid(wnid)) return wnid;
    fail(file, "holds the images of one class; expected the class in its name, like ",
         "n01440764.tar");
  }

  static constexpr int max_depth =
      3;  // ILSVRC2012_devkit_t12/data is two below the directory given
};

}  // namespace

ImagenetFiles find_imagenet_files(std::span<const fs::path> inputs) {
  if (inputs.empty()) {
    throw Error(
        "imagenet: no input given; give ILSVRC2012_img_train.tar, or "
        "ILSVRC2012_img_val.tar and ILSVRC2012_devkit_t12.tar.gz, or a directory");
  }
  Search search;
  for (const fs::path& input : inputs) search.look_at(input);
  return std::move(search.found);
}

bool is_val_image(std::string_view name) {
  constexpr std::string_view start = "ILSVRC2012_val_", end = ".JPEG";
  constexpr std::size_t digits = 8;
  if (name.size() != start.size() + digits + end.size()) return false;
  return name.starts_with(start) && name.ends_with(end) &&
         std::ranges::all_of(name.substr(start.size(), digits),
                             [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view base_name(std::string_view path) {
  path.remove_prefix(path.find_last_of('/') + 1);  // npos + 1 is 0
  return path;
}

}  // namespace feedrate::converters
