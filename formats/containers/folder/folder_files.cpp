#include "formats/containers/folder/folder_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <tuple>

#include "formats/base/error.h"
#include "formats/io/file.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view image_extensions[] = {".jpg", ".jpeg", ".png",  ".ppm", ".bmp",
                                                 ".pgm", ".tif",  ".tiff", ".webp"};
// Directories deeper than this are links that lead in circles.
constexpr int max_levels = 32;
// Names read, at all depths, to tell a class from another directory: "/" and links that lead in circles
// hold more than anyone waits for.
constexpr int max_looked_at = 1000;

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// The entries of one directory except "." and "..", as the system lists them, without a stat of
// each.
class Entries {
 public:
  Entries(const Descriptor& parent, const char* name)
      : directory_(opened(
            Descriptor(::openat(parent.number(), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)))) {}

  bool good() const { return directory_ != nullptr; }
  bool next() {
    do {
      errno = 0;
      entry_ = ::readdir(directory_.get());
    } while (entry_ != nullptr && (name() == "." || name() == ".."));
    return entry_ != nullptr;
  }
  // Why next() returned false: an errno, or 0 at the end.
  int error() const { return errno; }

  std::string_view name() const { return entry_->d_name; }
  bool hidden() const { return entry_->d_name[0] == '.'; }
  // Follows links. Only a link, or an entry whose type the file system does not list, costs a stat.
  bool is_directory() const {
    if (entry_->d_type != DT_LNK && entry_->d_type != DT_UNKNOWN) return entry_->d_type == DT_DIR;
    struct stat status {};
    return ::fstatat(::dirfd(directory_.get()), entry_->d_name, &status, 0) == 0 &&
           S_ISDIR(status.st_mode);
  }
  // A link that is named like an image counts as one: checking a million of them would take
  // minutes.
  bool is_image() const {
    return has_image_extension(name()) &&
           (entry_->d_type == DT_REG || entry_->d_type == DT_LNK || !is_directory());
  }

 private:
  static DIR* opened(Descriptor directory) {
    DIR* entries = directory ? ::fdopendir(directory.number()) : nullptr;
    if (entries != nullptr) directory.release();  // owned by entries now
    return entries;
  }

  std::unique_ptr<DIR, CloseDirectory> directory_;
  const dirent* entry_ = nullptr;
};

class Lister {
 public:
  explicit Lister(const fs::path& folder) : folder_(folder), root_(open_directory(folder)) {}

  FolderFiles run() {
    std::vector<std::string> classes;
    each(".", [&](const Entries& entry) {
      if (entry.is_directory()) {
        classes.emplace_back(entry.name());
      } else if (entry.is_image()) {
        pass_over(".", entry);  // in no class
      }
    });
    std::sort(classes.begin(), classes.end());
    for (const std::string& name : classes) add_class(name);
    return std::move(files_);
  }

 private:
  // Hidden directories without images, of version control for example, are no classes.
  void add_class(const std::string& name) {
    const std::size_t images = files_.images.size();
    const auto passed_over = std::pair(files_.passed_over, files_.first_passed_over);
    const auto label = static_cast<std::int32_t>(files_.classes.size());
    std::map<std::string, std::vector<std::string>> directories;
    walk(name, 1, directories);
    for (auto& [directory, names] : directories) {
      std::sort(names.begin(), names.end());
      for (const std::string& image : names) {
        files_.images.push_back({files_.paths.size(), label});
        files_.paths.append(directory).append(1, '/').append(image).append(1, '\0');
      }
    }
    const bool empty = files_.images.size() == images;
    if (empty && name.front() == '.') {
      std::tie(files_.passed_over, files_.first_passed_over) = passed_over;
      return pass_over(name);
    }
    files_.classes.push_back(name);
    if (empty && files_.empty_classes++ == 0) files_.first_empty_class = name;
  }

  template <class Action>
  void each(const std::string& directory, const Action& action) {
    Entries entries(root_, directory.c_str());
    if (!entries.good()) fail_errno(folder_ / directory, "cannot open the directory", errno);
    while (entries.next()) action(entries);
    if (entries.error() != 0) {
      fail_errno(folder_ / directory, "cannot read the directory", entries.error());
    }
  }

  void walk(const std::string& directory, int level,
            std::map<std::string, std::vector<std::string>>& directories) {
    if (level > max_levels) {
      fail(folder_ / directory, "is more than ", max_levels,
           " levels deep; does a link lead back?");
    }
    std::vector<std::string>& names = directories[directory];
    std::vector<std::string> inner;
    each(directory, [&](const Entries& entry) {
      if (entry.hidden()) {
        pass_over(directory, entry);
      } else if (entry.is_image()) {
        names.emplace_back(entry.name());
      } else if (entry.is_directory()) {
        inner.push_back(join(directory, '/', entry.name()));
      } else {
        pass_over(directory, entry);
      }
    });
    for (const std::string& next : inner) walk(next, level + 1, directories);
  }

  void pass_over(const std::string& directory, const Entries& entry) {
    pass_over(directory == "." ? std::string(entry.name()) : join(directory, '/', entry.name()));
  }

  // Keeps the first by name, so that every machine reports the same one.
  void pass_over(std::string path) {
    if (files_.passed_over++ == 0 || path < files_.first_passed_over) {
      files_.first_passed_over = std::move(path);
    }
  }

  fs::path folder_;
  Descriptor root_;
  FolderFiles files_;
};

enum class Holds : std::uint8_t { nothing, images, deeper_images, other };

// `left` is how many names may still be read; each name read lowers it by one.
Holds content_of(const Descriptor& root, const std::string& directory, int& left) {
  Entries entries(root, directory.c_str());
  if (!entries.good()) return Holds::other;
  std::vector<std::string> inner;
  bool holds_files = false;
  for (; left > 0 && entries.next(); --left) {
    if (entries.hidden()) continue;
    if (entries.is_image()) return Holds::images;
    if (entries.is_directory()) {
      inner.push_back(join(directory, '/', entries.name()));
    } else {
      holds_files = true;
    }
  }
  for (const std::string& next : inner) {
    const Holds holds = left > 0 ? content_of(root, next, left) : Holds::other;
    if (holds == Holds::images || holds == Holds::deeper_images) return Holds::deeper_images;
    holds_files = holds_files || holds == Holds::other;
  }
  return holds_files ? Holds::other : Holds::nothing;
}

// What the directories of a folder hold.
struct Content {
  std::size_t directories = 0;
  bool has_images = false;
  bool has_deeper_images = false;
  bool has_split = false;
  std::size_t others = 0;  // without images, but with files
  std::string other;       // the first of them by name
};

Content content_of(const fs::path& folder) {
  Content content;
  const Descriptor root(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) return content;
  Entries entries(root, ".");
  while (entries.good() && entries.next()) {
    if (entries.hidden() || !entries.is_directory()) continue;
    const std::string name(entries.name());
    int left = max_looked_at;
    const Holds holds = content_of(root, name, left);
    ++content.directories;
    content.has_images |= holds == Holds::images;
    content.has_deeper_images |= holds == Holds::deeper_images;
    content.has_split |= !split_named(name).empty();
    if (holds != Holds::other) continue;
    if (content.others++ == 0 || name < content.other) content.other = name;
  }
  return content;
}

// Images below the directories of a single class, or of splits, have classes further down.
bool holds_classes(const Content& content) {
  if (!content.has_deeper_images) return content.has_images;
  return content.directories > 1 && !content.has_split;
}

bool equal_but_for_case(std::string_view text, std::string_view lower) {
  const auto lowered = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  };
  return std::ranges::equal(text, lower, {}, lowered);
}

}  // namespace

FolderFiles list_folder(const fs::path& folder) { return Lister(folder).run(); }

bool has_image_extension(std::string_view file_name) {
  const std::size_t dot = file_name.rfind('.');
  if (dot == std::string_view::npos) return false;
  std::string extension(file_name.substr(dot));
  for (char& letter : extension) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  const auto* end = std::end(image_extensions);
  return std::find(std::begin(image_extensions), end, extension) != end;
}

std::string_view split_named(std::string_view directory) {
  const auto* const found = std::ranges::find_if(
      split_words, [&](std::string_view word) { return equal_but_for_case(directory, word); });
  return found == std::end(split_words) ? std::string_view() : *found;
}

bool looks_like_classes(const fs::path& folder) {
  const Content content = content_of(folder);
  return content.others == 0 && holds_classes(content);
}

std::string directory_beside_classes(const fs::path& folder) {
  const Content content = content_of(folder);
  return holds_classes(content) && 2 * content.others < content.directories ? content.other : "";
}

}  // namespace feedrate::formats
