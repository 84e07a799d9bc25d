#pragma once
// Tars of a few members, as another tool would write them.

#include <filesystem>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "formats/io/file.h"
#include "formats/io/tar_writer.h"
#include "tests/support/sample_images.h"

namespace feedrate::testing {
using namespace formats;

using TarMembers = std::vector<std::pair<std::string, std::string>>;  // name, content

inline void write_tar(const std::filesystem::path& path, const TarMembers& members) {
  OutputFile file(path);
  TarWriter tar(file);
  for (const auto& [name, content] : members) tar.add(name, as_bytes(content));
  tar.finish();
  file.close();
}

/// A small grey PNG, different for every number.
inline std::string png_bytes(std::uint32_t number) {
  Buffer encoded;
  png_codec.encode(make_image({4, 4, 1}, number), encoded);
  return std::string(as_text(encoded));
}

}  // namespace feedrate::testing
