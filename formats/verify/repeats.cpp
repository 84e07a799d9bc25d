#include <algorithm>
#include <set>

#include "formats/base/error.h"
#include "formats/verify/checks.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t max_groups = 20;  // reported one by one
constexpr std::size_t max_samples = 5;  // named for each group

using Group = std::vector<std::uint64_t>;  // indices of samples with one fingerprint, ascending

struct Repeats {
  std::vector<Group> groups;   // by first index
  std::uint64_t repeated = 0;  // samples equal to an earlier one
};

// A fingerprint of 0 means that there is none.
Repeats repeats_of(const std::vector<std::uint64_t>& fingerprints) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sorted;
  sorted.reserve(fingerprints.size());
  for (std::size_t i = 0; i < fingerprints.size(); ++i) {
    if (fingerprints[i] != 0) sorted.emplace_back(fingerprints[i], i);
  }
  std::sort(sorted.begin(), sorted.end());
  Repeats repeats;
  for (auto begin = sorted.begin(); begin != sorted.end();) {
    const auto end = std::find_if(begin, sorted.end(),
                                  [&](const auto& entry) { return entry.first != begin->first; });
    if (end - begin > 1) {
      Group group;
      for (auto at = begin; at != end; ++at) group.push_back(at->second);
      repeats.repeated += group.size() - 1;
      repeats.groups.push_back(std::move(group));
    }
    begin = end;
  }
  std::sort(repeats.groups.begin(), repeats.groups.end());
  return repeats;
}

std::string name_of(const Dataset& dataset, std::uint64_t index) {
  Scratch scratch;
  try {
    return std::string(dataset.read(index, scratch).name);
  } catch (const Error&) {
    return {};  // already reported for that sample
  }
}

// "samples 3, 19 and 27", with their names when asked for.
enum class Names : std::uint8_t { left_out, shown };
std::string place_of(const Dataset& dataset, const Group& group, Names names) {
  std::string place = "samples ";
  const std::size_t shown = std::min(group.size(), max_samples);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) place += i + 1 == group.size() ? " and " : ", ";
    place += join(group[i]);
    const std::string name = names == Names::shown ? name_of(dataset, group[i]) : "";
    if (!name.empty()) place += " (" + name + ")";
  }
  if (shown < group.size()) place += join(" and ", group.size() - shown, " more");
  return place;
}

std::string rest_text(const Repeats& repeats, std::string_view what) {
  return join("and ", repeats.groups.size() - max_groups, " more such groups; in all, ",
              repeats.repeated, " samples ", what, " an earlier one");
}

void check_names(const Dataset& dataset, const SampleFacts& facts, Verification& result) {
  const Repeats repeats = repeats_of(facts.names);
  if (repeats.groups.empty()) return;
  const std::string place = shown_path(dataset.info().path);
  const std::string first = name_of(dataset, repeats.groups.front().front());
  if (repeats.repeated > facts.names.size() / 2) {
    result.notes.push_back(
        {place, join("most names occur more than once ('", first, "'): they are not keys")});
    return;
  }
  if (first.find('/') == std::string::npos) {  // of files in several directories
    result.notes.push_back({place, join("some names occur more than once ('", first,
                                        "'): without directories, they are not keys")});
    return;
  }
  for (std::size_t i = 0; i < std::min(repeats.groups.size(), max_groups); ++i) {
    const Group& group = repeats.groups[i];
    result.findings.push_back({place_of(dataset, group, Names::left_out),
                               join("have the same name '", name_of(dataset, group.front()), "'")});
  }
  if (repeats.groups.size() > max_groups) {
    result.findings.push_back({place, rest_text(repeats, "have the name of")});
  }
}

std::set<std::int32_t> labels_of(const SampleFacts& facts, const Group& group) {
  std::set<std::int32_t> labels;
  for (const std::uint64_t index : group) labels.insert(facts.labels[index]);
  return labels;
}

std::string same_image_text(const std::set<std::int32_t>& labels) {
  if (labels.size() == 1) return join("hold the same image, of class ", *labels.begin());
  std::string text = "hold the same image with different labels: ";
  std::size_t listed = 0;
  for (const std::int32_t label : labels) {
    if (listed++ == max_samples) return text + ", …";
    text += join(listed == 1 ? "" : ", ", label);
  }
  return text;
}

void check_images(const Dataset& dataset, const SampleFacts& facts, Verification& result) {
  Repeats repeats = repeats_of(facts.images);
  if (repeats.groups.empty()) return;
  // Images with contradicting labels matter more than mere copies.
  const auto copies =
      std::stable_partition(repeats.groups.begin(), repeats.groups.end(),
                            [&](const Group& group) { return labels_of(facts, group).size() > 1; });
  for (std::size_t i = 0; i < std::min(repeats.groups.size(), max_groups); ++i) {
    const Group& group = repeats.groups[i];
    result.notes.push_back(
        {place_of(dataset, group, Names::shown), same_image_text(labels_of(facts, group))});
  }
  if (repeats.groups.size() > max_groups) {
    const auto contradictions = static_cast<std::uint64_t>(copies - repeats.groups.begin());
    std::string text = rest_text(repeats, "hold the image of");
    if (contradictions > 0) text += join("; ", contradictions, " groups with different labels");
    result.notes.push_back({shown_path(dataset.info().path), std::move(text)});
  }
}

}  // namespace

void check_repeats(const Dataset& dataset, const SampleFacts& facts, Verification& result) {
  check_names(dataset, facts, result);
  check_images(dataset, facts, result);
}

}  // namespace feedrate::formats
