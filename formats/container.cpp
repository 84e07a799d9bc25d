#include "formats/container.h"

#include "formats/base/error.h"

namespace feedrate::formats {

#define FEEDRATE_ROW(name) extern const Container& name##_container;
#include "formats/containers/list.inc"
#undef FEEDRATE_ROW

std::span<const Container* const> containers() {
  static const Container* const all[] = {
#define FEEDRATE_ROW(name) &name##_container,
#include "formats/containers/list.inc"
#undef FEEDRATE_ROW
  };
  return all;
}

bool Container::accepts(const Codec& codec) const {
  return &codec == &png_codec || &codec == &jpeg_codec || &codec == &packed_codec;
}

std::vector<std::filesystem::path> Container::write_index(const std::filesystem::path& path) const {
  fail(path, "a dataset of the format ", name(), " needs no index file beside it");
}

const Container& container(std::string_view name) {
  return find_kind("format", name, containers());
}

}  // namespace feedrate::formats
