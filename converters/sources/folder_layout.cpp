#include "converters/sources/folder_layout.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/containers/folder/folder_files.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using Names = std::vector<std::string>;

// Of which the first that is there has the classes of all.
constexpr std::string_view training_words[] = {"train", "training"};

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

FolderLayout::FolderLayout(std::string where, std::vector<std::string> paths,
                           const std::set<std::string>& directories)
    : where_(std::move(where)), paths_(std::move(paths)) {
  if (paths_.empty()) fail(where_, "holds no images");
  find_front();
  const std::string_view front = std::string_view(paths_.front()).substr(0, front_);
  for (const std::string& directory : directories) {
    if (directory.starts_with(front)) directories_.push_back(directory + '/');
  }
  find_splits();
  for (const std::string_view word : training_words) {
    if (std::ranges::find(splits_, word) == splits_.end()) continue;
    trained_ = word;
    break;
  }
}

void FolderLayout::find_front() {
  std::vector<std::string_view> sorted(paths_.begin(), paths_.end());
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end()) fail(where_, "holds ", *twice, " twice");
  // The first and the last of sorted paths share what all share.
  const std::string_view first = sorted.front(), last = sorted.back();
  for (;;) {
    const std::string_view part = first_part(first.substr(front_));
    if (part != first_part(last.substr(front_)) || !split_named(part).empty()) break;
    const std::size_t next = front_ + part.size() + 1;
    const auto has_directory = [&](std::string_view path) {
      return path.find('/', next) != std::string_view::npos;
    };
    if (!std::ranges::all_of(paths_, has_directory)) break;
    front_ = next;
  }
}

// A class may be called "train", too. Images beside such directories make the difference: with two
// splits they belong to none, but beside a single one that may be a class they are refused.
void FolderLayout::find_splits() {
  std::map<std::string_view, std::string_view> there;  // directories of splits
  bool holds_classes = false;
  for (const std::string& path : paths_) {
    const std::string_view rest = std::string_view(path).substr(front_);
    const std::string_view directory = first_part(rest), word = split_named(directory);
    if (word.empty() || directory.size() == rest.size()) {
      if (beside_++ == 0) first_beside_ = path;
      continue;
    }
    const auto known = there.try_emplace(word, directory).first;
    if (known->second != directory) {
      fail(where_, "holds ", known->second, "/ and ", directory, "/; expected one ", word, "/");
    }
    holds_classes = holds_classes || rest.find('/', directory.size() + 1) != std::string_view::npos;
  }
  has_splits_ = beside_ == 0 || (holds_classes && there.size() > 1);
  if (!has_splits_ && holds_classes) {
    fail(where_, "holds ", there.begin()->second, "/ with directories of images beside ",
         first_beside_, "; expected splits alone, or classes alone");
  }
  if (!has_splits_) {
    beside_ = 0;
    splits_ = {trained_};
    return;
  }
  for (const std::string_view word : split_words) {
    if (there.contains(word)) splits_.emplace_back(word);
  }
}

std::string_view FolderLayout::split_of(std::string_view path) const {
  if (!has_splits_) return trained_;
  const std::string_view rest = path.substr(front_), directory = first_part(rest);
  return directory.size() == rest.size() ? std::string_view() : split_named(directory);
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
  for (const std::vector<std::string>* const paths : {&paths_, &directories_}) {
    for (const std::string& path : *paths) {
      if (split_of(path) == split && !class_of(path).empty()) names.insert(class_of(path));
    }
  }
  return {names.begin(), names.end()};
}

FolderSplit FolderLayout::split(std::string_view name, const LabelList* list) const {
  FolderSplit found;
  found.labels.assign(paths_.size(), FolderSplit::elsewhere);
  found.front = front_ + (has_splits_ ? name.size() + 1 : 0);
  if (list == nullptr) {
    take_from_directories(name, nullptr, found);
    return found;
  }
  const Listed known = listed(*list);
  if (!take_from_list(name, known, found)) take_from_directories(name, &known, found);
  return found;
}

std::vector<std::size_t> FolderLayout::sorted(const FolderSplit& split) const {
  std::vector<std::size_t> places;
  places.reserve(split.images);
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    if (split.labels[i] != FolderSplit::elsewhere) places.push_back(i);
  }
  const auto key = [&](std::size_t place) {
    const std::string_view path = paths_[place];
    const std::size_t name = path.rfind('/') + 1;  // 0 where there is no directory
    return std::tuple(class_of(path), path.substr(0, name == 0 ? 0 : name - 1), path.substr(name));
  };
  std::ranges::sort(places, {}, key);
  return places;
}

std::string FolderLayout::directory_of(std::string_view split) const {
  for (const std::string& path : paths_) {
    if (split_of(path) != split) continue;
    const std::string_view inner =
        has_splits_ ? inside(path) : std::string_view(path).substr(front_);
    const std::size_t front = path.size() - inner.size();
    return path.substr(0, front == 0 ? 0 : front - 1);
  }
  return {};
}

FolderLayout::Listed FolderLayout::listed(const LabelList& list) const {
  const bool names_train = std::ranges::any_of(paths_, [&](const std::string& path) {
    return split_of(path) == trained_ && list.find(path) != list.rows().size();
  });
  if (!list.numbered() || !has_splits_ || names_train) return {list, names_train, !list.numbered()};
  // Directories called 1, 2, 10 are sorted as text: there a number is a name, not a place.
  const Names trained = classes_of(trained_);
  const auto is_class = [&](const LabelList::Row& row) {
    return std::ranges::binary_search(trained, row.label);
  };
  return {list, names_train, std::ranges::all_of(list.rows(), is_class)};
}

// Those of all splits: else one split's numbers would not be another's.
std::vector<std::string> FolderLayout::classes_of_list(const Listed& listed) const {
  std::set<std::string> classes;
  for (const LabelList::Row& row : listed.list.rows()) classes.insert(row.label);
  const Names trained = has_splits_ ? classes_of(trained_) : Names();
  // A list that names no image of train must not change the numbers of train's classes.
  if (trained.empty() || listed.names_train) return {classes.begin(), classes.end()};
  Missing unknown;
  for (const std::string& one : classes) {
    if (!std::ranges::binary_search(trained, one)) unknown.add(one);
  }
  if (unknown.count > 0) {
    fail(listed.list.file(), "names what is no class of ", trained_, "/ in ", where_, ": ",
         counted_names(unknown.names, unknown.count, "label"));
  }
  return trained;
}

// As many for all splits. Where train has directories, the numbers are their places in sorted order.
std::uint32_t FolderLayout::classes_of_numbers(const Listed& listed) const {
  const LabelList& list = listed.list;
  const auto number = [](const LabelList::Row& row) {
    return parse_number<std::int32_t>(row.label).value();
  };
  const LabelList::Row& largest = *std::ranges::max_element(list.rows(), {}, number);
  const auto classes = static_cast<std::uint32_t>(number(largest)) + 1;
  const bool by_list = !has_splits_ || listed.names_train;
  const std::size_t trained = by_list ? 0 : classes_of(trained_).size();
  if (trained == 0) return classes;
  if (classes > trained) {
    fail(list.file(), "gives ", largest.name, " the label ", largest.label, "; expected 0 to ",
         trained - 1, ", one of the ", trained, " classes of ", trained_, "/ in ", where_);
  }
  return static_cast<std::uint32_t>(trained);
}

// False where the list names no image of this split.
bool FolderLayout::take_from_list(std::string_view name, const Listed& listed,
                                  FolderSplit& found) const {
  const LabelList& list = listed.list;
  if (listed.names_classes) found.class_names = classes_of_list(listed);
  std::vector<std::size_t> image_of(list.rows().size(), paths_.size());
  Missing unlisted;
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    const std::string_view split = split_of(paths_[i]);
    if (split.empty()) continue;
    const std::size_t row = list.find(paths_[i]);
    const bool here = split == name;
    if (row == list.rows().size()) {
      if (!here) continue;
      unlisted.add(paths_[i]);
      found.labels[i] = FolderSplit::unlisted;
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
        listed.names_classes
            ? static_cast<std::int32_t>(std::ranges::lower_bound(found.class_names, label) -
                                        found.class_names.begin())
            : parse_number<std::int32_t>(label).value();
    ++found.images;
  }
  Missing absent;
  for (std::size_t row = 0; row < image_of.size(); ++row) {
    if (image_of[row] != paths_.size()) continue;
    absent.add(list.rows()[row].name);
    found.absent.push_back(list.rows()[row].name);
  }
  if (absent.count > 0) {
    found.absent_problem = join(list.file(), ": names what ", where_,
                                " does not hold: ", counted_names(absent.names, absent.count));
  }
  if (absent.count == image_of.size()) throw Error(found.absent_problem);
  if (found.images == 0) {
    found.labels.assign(paths_.size(), FolderSplit::elsewhere);
    found.absent.clear();
    return false;
  }
  if (unlisted.count > 0) {
    found.unlisted_problem = join(list.file(), ": does not name what ", where_,
                                  " holds: ", counted_names(unlisted.names, unlisted.count));
    found.images += unlisted.count;
  }
  found.classes = listed.names_classes ? static_cast<std::uint32_t>(found.class_names.size())
                                       : classes_of_numbers(listed);
  return true;
}

void FolderLayout::take_from_directories(std::string_view name, const Listed* listed,
                                         FolderSplit& found) const {
  const bool of_train = std::ranges::find(splits_, trained_) != splits_.end();
  const std::string_view owner = of_train ? trained_ : name;
  if (listed != nullptr && !listed->names_classes && (!of_train || listed->names_train)) {
    fail(listed->list.file(), "gives numbers to images, but none to those of ", name, "/ in ",
         where_,
         ", whose directories would be numbered in another way; expected a list that names these "
         "too, or one of class names");
  }
  // What the list names, others than this split, may have given the classes of train their names.
  const bool of_list = listed != nullptr && listed->names_classes && of_train && name != trained_;
  found.class_names = of_list ? classes_of_list(*listed) : classes_of(owner);
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
