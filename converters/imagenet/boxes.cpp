#include "converters/imagenet/boxes.h"

#include <algorithm>

#include "converters/archive.h"
#include "converters/imagenet/annotation.h"
#include "formats/base/error.h"
#include "formats/base/imagenet_classes.h"
#include "formats/base/wnid.h"
#include "formats/io/file.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t max_xml_bytes = 1 << 20;  // the published ones have about 500

// "n01440764/n01440764_96.JPEG" → "n01440764_96"
std::string_view stem(std::string_view path) {
  path.remove_prefix(path.find_last_of('/') + 1);  // npos + 1 is 0
  return path.substr(0, path.find_last_of('.'));
}

bool is_xml(std::string_view path) {
  // Archives made on a Mac hold "._name" beside each name.
  return path.ends_with(".xml") && !stem(path).starts_with("._");
}

// The class that an annotation is filed under; empty for validation images.
std::string_view class_of(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash != std::string_view::npos) {
    std::string_view directory = path.substr(0, slash);
    directory.remove_prefix(directory.find_last_of('/') + 1);
    if (is_wnid(directory)) return directory;
  }
  const std::string_view name = stem(path);
  const std::string_view prefix = name.substr(0, name.find('_'));
  return is_wnid(prefix) ? prefix : std::string_view();
}

}  // namespace

void Boxes::read(const fs::path& input) {
  if (fs::is_directory(input)) return read_directory(input);
  Archive archive(input);
  Buffer xml;
  while (archive.next()) {
    if (!is_xml(archive.name())) {
      ++counts_.other_files;
      continue;
    }
    archive.read_all(xml, max_xml_bytes);
    add(archive.name(), xml, archive.place());
  }
}

void Boxes::read_directory(const fs::path& directory) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(directory, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (!entry->is_regular_file(error)) continue;
    if (is_xml(entry->path().native())) {
      files.push_back(entry->path());
    } else {
      ++counts_.other_files;
    }
  }
  if (error) fail(directory, "cannot list: ", error.message());
  std::ranges::sort(files);  // so that the first of two annotations of an image is always the same
  Buffer xml;
  for (const std::string& file : files) {
    if (fs::file_size(file) > max_xml_bytes) fail(file, "is too large for an annotation");
    read_file(file, xml);
    add(file, xml, file);
  }
}

void Boxes::add(std::string_view path, Bytes xml, const std::string& place) {
  ++counts_.annotations;
  const auto [entry, is_new] = of_.try_emplace(std::string(stem(path)));
  if (!is_new) {
    ++counts_.repeated;
    return;
  }
  const Annotation annotation = parse_annotation(as_text(xml), place);
  const std::string_view own_class = class_of(path);
  entry->second.first = static_cast<std::uint32_t>(boxes_.size());
  for (const AnnotatedBox& annotated : annotation.boxes) {
    // Some boxes have a word for a name ("Scottish_deerhound"): they are of the image's class.
    if (!own_class.empty() && annotated.name != own_class && imagenet_label(annotated.name)) {
      ++counts_.foreign;
    } else if (const auto box = relative_box(annotation, annotated)) {
      boxes_.push_back(*box);
    } else {
      ++counts_.degenerate;
    }
  }
  entry->second.count = static_cast<std::uint32_t>(boxes_.size()) - entry->second.first;
  counts_.boxes += entry->second.count;
}

std::span<const Box> Boxes::of(std::string_view image) const {
  const auto found = of_.find(stem(image));
  if (found == of_.end()) return {};
  return std::span(boxes_).subspan(found->second.first, found->second.count);
}

}  // namespace feedrate::converters
