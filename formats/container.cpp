#include "formats/container.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "formats/base/error.h"

namespace feedrate::formats {

#define FEEDRATE_ROW(name) extern const Container& name##_container;
#include "formats/containers/list.inc"
#undef FEEDRATE_ROW

std::span<const Container* const> all_containers() {
  static const Container* const all[] = {
#define FEEDRATE_ROW(name) &name##_container,
#include "formats/containers/list.inc"
#undef FEEDRATE_ROW
  };
  return all;
}

std::span<const Container* const> containers() {
  static const std::vector<const Container*> written = [] {
    std::vector<const Container*> some;
    std::ranges::copy_if(all_containers(), std::back_inserter(some), &Container::writes);
    return some;
  }();
  return written;
}

bool Container::accepts(const Codec& codec) const {
  return &codec == &png_codec || &codec == &jpeg_codec || &codec == &webp_codec ||
         &codec == &packed_codec;
}

std::vector<std::filesystem::path> Container::write_index(const std::filesystem::path& path) const {
  fail(path, "a dataset of the format ", name(), " needs no index file beside it");
}

const Container& container(std::string_view name) {
  return find_kind("format", name, all_containers());
}

const Container& container_to_write(std::string_view name) {
  const auto all = all_containers();
  const auto is_asked = [&](const Container* row) { return row->name() == name; };
  const auto found = std::ranges::find_if(all, is_asked);
  if (found == all.end() || (*found)->writes()) return find_kind("format", name, containers());
  std::string written;
  for (const Container* row : containers())
    written += join(written.empty() ? "" : ", ", row->name());
  throw Error(join("the format ", name, " is only read; there are ", written));
}

}  // namespace feedrate::formats
