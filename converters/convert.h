#pragma once
// One conversion: a stream of samples into a dataset. Read in order, encode in parallel, write in
// order: the same files at any thread count.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "converters/source.h"
#include "formats/container.h"
#include "formats/digest.h"

namespace feedrate {

struct ConvertOptions {
  const Codec* codec = nullptr;  // null: the container's default
  unsigned threads = 0;          // encoders; 0: every core the process may use
  std::uint64_t limit = 0;       // at most so many samples; 0: all
  /// Called by one thread at a time.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
};

struct Conversion {
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;  // encoded, without the container's own
  double seconds = 0;
  Shape shape;  // of every image; zero where they differ
  DatasetDigest digest;
};

/// Everything of `stream` into `directory`, which exists and is empty: the container's files, no
/// sidecar, not yet brought to disk. Throws Error on a fault of the source or the disk.
Conversion convert(SampleStream& stream, const Container& container,
                   const std::filesystem::path& directory, std::string_view split,
                   const ConvertOptions& options);

/// What `feedrate convert` does for one split: opens the source, converts into `<out>.partial`,
/// writes the sidecar, renames. Nothing is left under `out` when it throws.
Conversion convert_dataset(const Source& source, std::span<const std::filesystem::path> inputs,
                           std::string_view split, const Container& container,
                           const std::filesystem::path& out, const ConvertOptions& options);

}  // namespace feedrate
