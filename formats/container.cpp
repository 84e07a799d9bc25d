#include "formats/container.h"

#include "formats/base/error.h"
#include "formats/containers/rows.h"

namespace feedrate::formats {

std::span<const Container* const> containers() {
  static const Container* const all[] = {&lmdb_container,       &recordio_container,
                                         &tfrecord_container,   &png_map_container,
                                         &webdataset_container, &folder_container};
  return all;
}

std::vector<std::filesystem::path> Container::write_index(const std::filesystem::path& path) const {
  fail(path, "a dataset of the format ", name(), " needs no index file beside it");
}

const Container& container(std::string_view name) {
  return find_kind("format", name, containers());
}

}  // namespace feedrate::formats
