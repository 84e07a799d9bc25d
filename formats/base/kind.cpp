#include "formats/base/kind.h"

#include <algorithm>

#include "formats/base/edit_distance.h"

namespace feedrate::formats {
namespace {

// What people call the same thing elsewhere, in lower case. Of several lines for a word, the first
// whose name is there counts.
struct Alias {
  std::string_view word, name;
};
constexpr Alias aliases[] = {{"gpu", "cuda"},
                             {"nvidia", "cuda"},
                             {"host", "cpu"},
                             {"val", "validation"},
                             {"val", "test"},
                             {"validation", "val"},
                             {"validation", "test"},
                             {"valid", "val"},
                             {"valid", "test"},
                             {"eval", "val"},
                             {"eval", "test"},
                             {"test", "val"},
                             {"training", "train"},
                             {"half", "fp16"},
                             {"float16", "fp16"},
                             {"float", "fp32"},
                             {"float32", "fp32"},
                             {"bfloat16", "bf16"},
                             {"jpg", "jpeg"},
                             {"mxnet", "recordio"},
                             {"caffe", "lmdb"},
                             {"cntk", "png-map"},
                             {"tf", "tfrecord"},
                             {"tensorflow", "tfrecord"},
                             {"wds", "webdataset"},
                             {"tar", "webdataset"},
                             {"imagefolder", "folder"},
                             {"torch", "pytorch"},
                             {"fashion-mnist", "mnist"},
                             {"kmnist", "mnist"},
                             {"emnist", "mnist"},
                             {"ilsvrc2012", "imagenet"},
                             {"ilsvrc", "imagenet"},
                             {"inception", "googlenet"}};

std::string lower(std::string_view text) {
  std::string letters(text);
  for (char& c : letters) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return letters;
}

constexpr std::size_t min_prefix = 2;

// An alias, or the first name that begins with the word: of a family, the plainest comes first.
std::string_view known_short_form(std::string_view word, std::span<const std::string_view> names) {
  for (const Alias& alias : aliases) {
    const auto at = std::ranges::find(names, alias.name);
    if (alias.word == word && at != names.end()) return *at;
  }
  const std::size_t letters = word.size() - std::min(word.find_first_not_of('-'), word.size());
  const auto at = std::ranges::find_if(
      names, [&](std::string_view name) { return lower(name).starts_with(word); });
  return letters < min_prefix || at == names.end() ? std::string_view() : *at;
}

// A message need not list more names than these if it suggests one.
constexpr std::size_t max_listed = 7;

}  // namespace

std::string_view nearest_name(std::string_view wanted, std::span<const std::string_view> names) {
  const std::string_view known = known_short_form(lower(wanted), names);
  if (!known.empty()) return known;
  // A guess more than a third of the word away misleads; two slips are always allowed.
  std::size_t best = std::max<std::size_t>(2, wanted.size() / 3) + 1;
  std::string_view nearest;
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(wanted, name);
    if (distance < best && distance < name.size()) {
      best = distance;
      nearest = name;
    }
  }
  return nearest;
}

std::string unknown_kind(std::string_view what, std::string_view wanted,
                         std::span<const std::string_view> names) {
  const std::string_view nearest = nearest_name(wanted, names);
  std::string message = join("no ", what, " '", wanted, "'");
  if (nearest.empty() || names.size() <= max_listed) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      message += join(i == 0 ? "; there are " : ", ", names[i]);
    }
  }
  if (!nearest.empty()) message += join("; did you mean ", nearest, "?");
  return message;
}

void expect_known(std::string_view what, std::string_view wanted,
                  std::span<const std::string_view> names) {
  if (std::ranges::find(names, wanted) == names.end()) {
    throw Error(unknown_kind(what, wanted, names));
  }
}

}  // namespace feedrate::formats
