#include "converters/sources/folder_layout.h"

#include <algorithm>
#include <set>

#include "formats/base/error.h"
#include "formats/base/text.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using Names = std::vector<std::string>;

constexpr std::string_view split_words[] = {"train", "val",        "test",    "training",
                                            "valid", "validation", "testing", "eval"};
constexpr std::string_view only_split = "train";

bool is_split_word(std::string_view name) {
  return std::ranges::find(split_words, name) != std::end(split_words);
}

std::string_view first_part(std::string_view path) { return path.substr(0, path.find('/')); }

// "3 images, the first: a.jpg, b.jpg, c.jpg"
std::string counted_names(const std::vector<std::string_view>& names, std::uint64_t count,
                          std::string_view what = "image") {
  std::string text = join(count, " ", what, count == 1 ? ": " : "s, the first: ");
  for (std::size_t i = 0; i < names.size(); ++i) text += join(i == 0 ? "" : ", ", names[i]);
  return text;
}

// Keeps the first five of what it counts.
struct Missing {
  static constexpr std::size_t shown = 5;

  void add(std::string_view name) {
    if (count++ < shown) names.push_back(name);
  }
  std::vector<std::string_view> names;
  std::uint64_t count = 0;
};

}  // namespace

FolderLayout::FolderLayout(std::string where, std::vector<std::string> paths)
    : where_(std::move(where)), paths_(std::move(paths)) {
  if (paths_.empty()) fail(where_, "holds no images");
  std::vector<std::string_view> sorted(paths_.begin(), paths_.end());
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end()) fail(where_, "holds ", *twice, " twice");
  // The first and the last of sorted paths share what all share.
  const std::string_view first = sorted.front(), last = sorted.back();
  for (;;) {
    const std::string_view part = first_part(first.substr(front_));
    if (part != first_part(last.substr(front_)) || is_split_word(part)) break;
    const std::size_t next = front_ + part.size() + 1;
    const auto has_directory = [&](std::string_view path) {
      return path.find('/', next) != std::string_view::npos;
    };
    if (!std::ranges::all_of(paths_, has_directory)) break;
    front_ = next;
  }
  const auto in_split = [&](std::string_view path) {
    const std::string_view rest = path.substr(front_);
    return is_split_word(first_part(rest)) && rest.find('/') != std::string_view::npos;
  };
  has_splits_ = std::ranges::all_of(paths_, in_split);
  if (!has_splits_) {
    splits_.emplace_back(only_split);
    return;
  }
  std::set<std::string_view> there;
  for (const std::string& path : paths_) there.insert(split_of(path));
  for (const std::string_view word : split_words) {
    if (there.contains(word)) splits_.emplace_back(word);
  }
}

std::string_view FolderLayout::split_of(std::string_view path) const {
  return has_splits_ ? first_part(path.substr(front_)) : only_split;
}

std::string_view FolderLayout::inside(std::string_view path) const {
  return path.substr(front_ + (has_splits_ ? split_of(path).size() + 1 : 0));
}

std::string_view FolderLayout::class_of(std::string_view path) const {
  const std::string_view rest = inside(path);
  return rest.find('/') == std::string_view::npos ? std::string_view() : first_part(rest);
}

std::vector<std::string> FolderLayout::classes_of(std::string_view split) const {
  std::set<std::string_view> names;
  for (const std::string& path : paths_) {
    if (split_of(path) == split && !class_of(path).empty()) names.insert(class_of(path));
  }
  return {names.begin(), names.end()};
}

FolderSplit FolderLayout::split(std::string_view name, const LabelList* list) const {
  FolderSplit found;
  found.labels.assign(paths_.size(), FolderSplit::elsewhere);
  found.front = front_ + (has_splits_ ? name.size() + 1 : 0);
  if (list == nullptr || !take_from_list(name, *list, found)) {
    take_from_directories(name, list, found);
  }
  return found;
}

// Those of all splits: else one split's numbers would not be another's.
std::vector<std::string> FolderLayout::classes_of_list(const LabelList& list) const {
  std::set<std::string> classes;
  for (const LabelList::Row& row : list.rows()) classes.insert(row.label);
  const std::vector<std::string> trained = has_splits_ ? classes_of(only_split) : Names();
  // A list that names no image of train must not change the numbers of train's classes.
  if (trained.empty() || names_any_of(list, only_split)) {
    return {classes.begin(), classes.end()};
  }
  Missing unknown;
  for (const std::string& one : classes) {
    if (!std::ranges::binary_search(trained, one)) unknown.add(one);
  }
  if (unknown.count > 0) {
    fail(list.file(), "names what is no class of ", only_split, "/ in ", where_, ": ",
         counted_names(unknown.names, unknown.count, "label"));
  }
  return trained;
}

bool FolderLayout::names_any_of(const LabelList& list, std::string_view split) const {
  return std::ranges::any_of(paths_, [&](const std::string& path) {
    return split_of(path) == split && list.find(path) != list.rows().size();
  });
}

// As many for all splits. Where train has directories, the numbers are their places in sorted order.
std::uint32_t FolderLayout::classes_of_numbers(const LabelList& list) const {
  const auto number = [](const LabelList::Row& row) {
    return parse_number<std::int32_t>(row.label).value();
  };
  const LabelList::Row& largest = *std::ranges::max_element(list.rows(), {}, number);
  const auto classes = static_cast<std::uint32_t>(number(largest)) + 1;
  const bool by_list = !has_splits_ || names_any_of(list, only_split);
  const std::size_t trained = by_list ? 0 : classes_of(only_split).size();
  if (trained == 0) return classes;
  if (classes > trained) {
    fail(list.file(), "gives ", largest.name, " the label ", largest.label, "; expected 0 to ",
         trained - 1, ", one of the ", trained, " classes of ", only_split, "/ in ", where_);
  }
  return static_cast<std::uint32_t>(trained);
}

// False where the list names no image of this split.
bool FolderLayout::take_from_list(std::string_view name, const LabelList& list,
                                  FolderSplit& found) const {
  if (!list.numbered()) found.class_names = classes_of_list(list);
  std::vector<std::size_t> image_of(list.rows().size(), paths_.size());
  Missing unlisted;
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    const std::size_t row = list.find(paths_[i]);
    const bool here = split_of(paths_[i]) == name;
    if (row == list.rows().size()) {
      if (here) unlisted.add(paths_[i]);
      continue;
    }
    if (image_of[row] != paths_.size()) {
      fail(list.file(), "names ", list.rows()[row].name, ", which ", where_,
           " holds twice: ", paths_[image_of[row]], ", ", paths_[i]);
    }
    image_of[row] = i;
    if (!here) continue;
    const std::string& label = list.rows()[row].label;
    found.labels[i] =
        list.numbered()
            ? parse_number<std::int32_t>(label).value()
            : static_cast<std::int32_t>(std::ranges::lower_bound(found.class_names, label) -
                                        found.class_names.begin());
    ++found.images;
  }
  Missing absent;
  for (std::size_t row = 0; row < image_of.size(); ++row) {
    if (image_of[row] == paths_.size()) absent.add(list.rows()[row].name);
  }
  if (absent.count > 0) {
    fail(list.file(), "names what ", where_,
         " does not hold: ", counted_names(absent.names, absent.count));
  }
  if (found.images == 0) return false;
  if (unlisted.count > 0) {
    fail(list.file(), "does not name what ", where_,
         " holds: ", counted_names(unlisted.names, unlisted.count));
  }
  found.classes = list.numbered() ? classes_of_numbers(list)
                                  : static_cast<std::uint32_t>(found.class_names.size());
  return true;
}

void FolderLayout::take_from_directories(std::string_view name, const LabelList* list,
                                         FolderSplit& found) const {
  const bool of_train = std::ranges::find(splits_, only_split) != splits_.end();
  const std::string_view owner = of_train ? only_split : name;
  if (list != nullptr && list->numbered() && (!of_train || names_any_of(*list, only_split))) {
    fail(list->file(), "gives numbers to images, but none to those of ", name, "/ in ", where_,
         ", whose directories would be numbered in another way; expected a list that names these "
         "too, or one of class names");
  }
  // What the list names, others than this split, may have given the classes of train their names.
  const bool of_list = list != nullptr && !list->numbered() && of_train && name != only_split;
  found.class_names = of_list ? classes_of_list(*list) : classes_of(owner);
  found.classes = static_cast<std::uint32_t>(found.class_names.size());
  Missing without, unknown;
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    if (split_of(paths_[i]) != name) continue;
    const std::string_view of = class_of(paths_[i]);
    const auto at = std::ranges::lower_bound(found.class_names, of);
    if (of.empty()) {
      without.add(paths_[i]);
    } else if (at == found.class_names.end() || *at != of) {
      unknown.add(paths_[i]);
    } else {
      found.labels[i] = static_cast<std::int32_t>(at - found.class_names.begin());
      ++found.images;
    }
  }
  if (without.count > 0) {
    fail(where_, "holds images in no directory of a class; name their labels with --labels: ",
         counted_names(without.names, without.count));
  }
  if (unknown.count > 0) {
    fail(where_, "holds images of no class that ", owner,
         "/ has; name their labels with --labels: ", counted_names(unknown.names, unknown.count));
  }
}

}  // namespace feedrate::converters
