#pragma once
// Writes a zip of images, which are stored as they are: compressed once, they shrink no more.

#include <filesystem>
#include <memory>
#include <string>

#include "formats/base/bytes.h"

namespace feedrate::converters {

/// One thread. The same entries give the same bytes. Throws Error, naming the file, when a write
/// fails.
class ZipWriter {
 public:
  explicit ZipWriter(const std::filesystem::path& path);
  ~ZipWriter();
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;

  void add(const std::string& name, formats::Bytes content);
  /// Writes the directory of the entries, and flushes the file to disk.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace feedrate::converters
