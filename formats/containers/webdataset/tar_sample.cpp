#include "formats/containers/webdataset/tar_sample.h"

#include <algorithm>

#include "formats/base/clutter.h"
#include "formats/base/error.h"

namespace feedrate::formats {
namespace {

constexpr std::string_view around = "__";

bool is_in_list(std::string_view extensions, std::string_view extension) {
  while (!extensions.empty()) {
    const std::size_t slash = extensions.find('/');
    if (extensions.substr(0, slash) == extension) return true;
    extensions.remove_prefix(slash + 1);
  }
  return false;
}

}  // namespace

std::optional<SampleName> split_sample_name(std::string_view name) {
  if (is_clutter(name)) return std::nullopt;
  const std::size_t slash = name.rfind('/');
  const std::size_t base = slash == std::string_view::npos ? 0 : slash + 1;
  const std::size_t dot = name.find('.', base);
  if (dot == std::string_view::npos) return std::nullopt;
  if (dot == base) {
    // A hidden file: its directory is the key, unless it has a dot itself (or there is none).
    if (base == 0) return std::nullopt;
    const std::size_t parent = base < 2 ? std::string_view::npos : name.rfind('/', base - 2);
    const std::size_t last = parent == std::string_view::npos ? 0 : parent + 1;
    if (name.substr(last, base - last).find('.') != std::string_view::npos) return std::nullopt;
  }
  return SampleName{name.substr(0, dot), name.substr(dot + 1)};
}

bool is_tar_metadata(std::string_view name) {
  const std::string_view first = name.substr(0, name.find('/'));
  if (!first.starts_with(around) || !first.ends_with(around)) return false;
  return first.size() == name.size() || first.size() >= 2 * around.size();
}

bool next_member(TarWalk& walk, SampleMember& member, std::uint64_t* clutter) {
  while (walk.next(member.entry)) {
    if (clutter != nullptr && member.entry.is_file() && is_clutter(member.entry.name)) ++*clutter;
    if (!member.entry.is_file() || is_tar_metadata(member.entry.name)) continue;
    const std::optional<SampleName> name = split_sample_name(member.entry.name);
    if (!name) continue;
    member.key = name->key;
    member.extension = lower_case(name->extension);
    return true;
  }
  return false;
}

void TarSample::take(const SampleMember& member) {
  const std::string& extension = member.extension;
  if (key.empty()) key = member.key;
  if (is_in_list(extensions, extension)) {
    throw Error(join("two files of the sample have the extension ", extension));
  }
  extensions.append(extension).append(1, '/');
  const Part part{member.entry.offset, member.entry.size};
  if (!keys->label.empty() && extension == keys->label) label = part;
  if (extension == "json") json = part;
  const std::optional<std::size_t> rank = image_rank(extension, *keys);
  if (rank && (!image || *rank < image_rank_)) {
    image = part;
    image_rank_ = *rank;
    image_name = member.entry.name;
  }
}

}  // namespace feedrate::formats
