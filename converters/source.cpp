#include "converters/source.h"

#include "formats/digests/digest.h"

namespace feedrate::converters {
using namespace formats;

#define FEEDRATE_ROW(name) extern const Source& name##_source;
#include "converters/sources/list.inc"
#undef FEEDRATE_ROW

std::span<const Source* const> sources() {
  static const Source* const all[] = {
#define FEEDRATE_ROW(name) &name##_source,
#include "converters/sources/list.inc"
#undef FEEDRATE_ROW
  };
  return all;
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
