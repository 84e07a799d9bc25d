#include "converters/source.h"

#include "converters/sources/rows.h"
#include "formats/digests/digest.h"

namespace feedrate::converters {
using namespace formats;

std::span<const Source* const> sources() {
  static const Source* const rows[] = {&mnist_source,    &cifar10_source, &cifar100_source,
                                       &imagenet_source, &folder_source,  &dataset_source};
  return rows;
}

const Source& source(std::string_view name) { return find_kind("source", name, sources()); }

std::vector<Sidecar::Input> Source::inputs(std::span<const std::filesystem::path> paths,
                                           std::string_view split) const {
  std::vector<Sidecar::Input> inputs;
  for (const std::filesystem::path& file : files(paths, split)) {
    inputs.push_back({.name = file.filename().string(),
                      .bytes = std::filesystem::file_size(file),
                      .hash = file_hash(file)});
  }
  return inputs;
}

}  // namespace feedrate::converters
