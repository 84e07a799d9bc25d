#pragma once
// A made archive that is one tar.

#include <filesystem>

#include "formats/io/tar_writer.h"

namespace feedrate::converters {

/// Writes a tar into a File, which is an OutputFile or a GzipFile. `fill(tar)` adds the entries.
template <class File, class Fill>
void write_made_tar(const std::filesystem::path& path, const Fill& fill) {
  File file(path);
  formats::TarWriter tar(file);
  fill(tar);
  tar.finish();
  file.close();
}

}  // namespace feedrate::converters
