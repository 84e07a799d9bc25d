#include "formats/base/imagenet_classes.h"

#include <algorithm>
#include <cassert>

#include "formats/base/text.h"

namespace feedrate::formats {

/// imagenet_classes.txt, embedded by CMake: meta.mat's wnids and words, one class per line, in the
/// order of ILSVRC2012_ID.
extern const std::string_view imagenet_classes_text;

namespace {

struct Class {
  std::string_view wnid;
  std::string_view words;
  std::size_t id = 0;
};

std::vector<Class> classes_by_label() {
  std::vector<Class> classes;
  for (std::string_view rest = imagenet_classes_text; !rest.empty();) {
    const std::string_view line = take_line(rest);
    const std::size_t blank = line.find(' ');
    classes.push_back({line.substr(0, blank), line.substr(blank + 1), classes.size() + 1});
  }
  assert(classes.size() == imagenet_classes);
  std::ranges::sort(classes, {}, &Class::wnid);
  return classes;
}

struct Tables {
  std::vector<std::string> wnids;
  std::vector<std::string> words;
  std::vector<std::size_t> ids;
  std::vector<std::int32_t> label_of_id = std::vector<std::int32_t>(imagenet_classes + 1);
};

const Tables& tables() {
  static const Tables made = [] {
    Tables tables;
    for (const Class& one : classes_by_label()) {
      tables.label_of_id[one.id] = static_cast<std::int32_t>(tables.ids.size());
      tables.wnids.emplace_back(one.wnid);
      tables.words.emplace_back(one.words);
      tables.ids.push_back(one.id);
    }
    return tables;
  }();
  return made;
}

}  // namespace

const std::vector<std::string>& imagenet_wnids() { return tables().wnids; }

const std::vector<std::string>& imagenet_words() { return tables().words; }

std::optional<std::int32_t> imagenet_label(std::string_view wnid) {
  const std::vector<std::string>& wnids = tables().wnids;
  const auto found = std::ranges::lower_bound(wnids, wnid);
  if (found == wnids.end() || *found != wnid) return std::nullopt;
  return static_cast<std::int32_t>(found - wnids.begin());
}

std::int32_t label_of_imagenet_id(std::size_t id) {
  assert(id >= 1 && id <= imagenet_classes);
  return tables().label_of_id[id];
}

std::size_t imagenet_id_of_label(std::int32_t label) {
  assert(label >= 0 && label < static_cast<std::int32_t>(imagenet_classes));
  return tables().ids[static_cast<std::size_t>(label)];
}

}  // namespace feedrate::formats
