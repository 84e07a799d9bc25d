#pragma once
// One conversion: a stream of samples into a dataset. Read in order, encode in parallel, write in
// order: the same files at any thread count.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "converters/source.h"
#include "formats/container.h"
#include "formats/digests/digest.h"
#include "formats/encoding.h"
#include "formats/pixels/resize.h"

namespace feedrate::converters {

/// What becomes of a sample that cannot be decoded or stored.
enum class OnBad : std::uint8_t {
  fail,  // the conversion ends with its place
  skip,  // it is left out, counted and listed in the sidecar
};

/// What becomes of images that ImageNet's readers stumble over: CMYK JPEGs, PNGs named .JPEG.
enum class Fix : std::uint8_t {
  keep,      // they stay as published
  reencode,  // they become RGB JPEGs of quality 100, as in Inception's conversion
};

/// Part `number` (1 … count) of a conversion that several machines share.
struct ConversionPart {
  std::uint32_t number = 1;
  std::uint32_t count = 1;
};

struct ConvertOptions {
  /// Nothing: the bytes stay where the container holds the source's codec, else its default codec.
  std::optional<formats::Encoding> encoding = {};
  std::optional<formats::Resize> resize = {};
  std::optional<std::uint64_t> shuffle = {};  // seed; see selection.h
  std::uint64_t limit = 0;                    // at most so many samples; 0: all
  std::uint32_t shards = 1;
  ConversionPart part = {};
  Fix fix = Fix::keep;
  OnBad on_bad = OnBad::fail;
  bool gzip = false;
  unsigned threads = 0;  // encoders; 0: every core the process may use
  bool resume = false;   // go on where an earlier run of the same conversion was killed
  /// The journal is written whenever so many bytes were added: what a resumed run does again.
  std::uint64_t journal_bytes = std::uint64_t{1} << 30;
  /// Called by one thread at a time.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
};

/// A sample that `--on-bad skip` left out.
struct Skipped {
  std::uint64_t position = 0;
  std::string name;
  std::string reason;
};

struct Conversion {
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;  // encoded, without the container's own
  double seconds = 0;
  std::uint64_t resumed_at = 0;   // samples that an earlier run had written
  formats::Shape shape;           // of every image; zero where they differ
  std::string codec;              // of every image; "mixed" where they differ
  formats::DatasetDigest digest;  // empty when JPEGs were kept, whose pixels nobody looked at
  std::string bytes_digest;
  std::uint64_t mended = 0;
  std::vector<Skipped> skipped;
};

/// Everything of `stream` into `directory`, which exists and is empty: the container's files, no
/// sidecar, not yet brought to disk. Throws Error on a fault of the source or the disk.
Conversion convert(std::unique_ptr<SampleStream> stream, const formats::Container& container,
                   const std::filesystem::path& directory, std::string_view split,
                   const ConvertOptions& options);

/// What `feedrate convert` does for one split: opens the source, converts into `<out>.partial`,
/// writes the sidecar, renames. When it throws, nothing is left under `out`; `<out>.partial` stays
/// only when `--resume` can go on from it. A part is made as `part_path(out, part)`.
Conversion convert_dataset(const Source& source, std::span<const std::filesystem::path> inputs,
                           std::string_view split, const formats::Container& container,
                           const std::filesystem::path& out, const ConvertOptions& options);

/// "<out>.part-3-of-8"
std::filesystem::path part_path(const std::filesystem::path& out, const ConversionPart& part);

}  // namespace feedrate::converters
