#pragma once
// Converts a stream of samples into a dataset: reads in order, encodes in parallel, writes in
// order. The files are the same at any thread count.

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

/// What to do with a sample that cannot be decoded or stored.
enum class OnBad : std::uint8_t {
  fail,  // stop with an Error that names the sample
  skip,  // leave it out, count it and list it in the sidecar
};

/// What to do with images that trip up readers of ImageNet: CMYK JPEGs, PNGs named .JPEG.
enum class Fix : std::uint8_t {
  keep,      // leave them as published
  reencode,  // make them RGB JPEGs of quality 100, as Inception's conversion does
};

/// Part `number` (1 … count) of a conversion that is split among several machines.
struct ConversionPart {
  std::uint32_t number = 1;
  std::uint32_t count = 1;
};

struct ConvertOptions {
  /// Nothing: images stay as they are if the container accepts the source's codec; raw images that
  /// it does not accept get its default codec.
  std::optional<formats::Encoding> encoding = {};
  std::optional<formats::Resize> resize = {};
  std::optional<std::uint64_t> shuffle = {};  // seed; see selection.h
  std::uint64_t limit = 0;                    // convert at most this many samples; 0: all
  std::uint32_t shards = 1;
  ConversionPart part = {};
  Fix fix = Fix::keep;
  OnBad on_bad = OnBad::fail;
  bool check = true;       // that JPEGs which are kept can be decoded
  bool no_boxes = false;   // leave out bounding boxes
  bool one_label = false;  // of a list of labels, keep the class alone
  bool gzip = false;
  bool crops = false;    // make a crop index; of parts, once they are joined
  unsigned threads = 0;  // encoders; 0: every core the process may use
  bool resume = false;   // continue an earlier run of the same conversion that was killed
  /// The journal is written each time this many bytes were added: the most that a resumed run must
  /// repeat.
  std::uint64_t journal_bytes = std::uint64_t{1} << 30;
  /// Called by one thread at a time.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
};

/// The dataset to be made.
struct ConvertTarget {
  const formats::Container& container;
  std::filesystem::path path;
  std::string split = "train";
};

/// A sample that `--on-bad skip` left out.
struct Skipped {
  std::uint64_t position = 0;
  std::string name;  // "": it could not be read
  std::string reason;

  /// "sample 5 (five.png): PNG is damaged"; the reason alone where that names the sample itself.
  std::string text() const;
};

struct Conversion {
  bool earlier = false;  // an earlier run finished it: what follows is from its sidecar
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;  // of the encoded images, without the container's overhead
  double seconds = 0;
  std::uint64_t resumed_at = 0;   // samples that the earlier run had written; 0: not resumed
  formats::Shape shape;           // of every image; zero if they differ
  std::string codec;              // of every image; "mixed" if they differ
  formats::DatasetDigest digest;  // empty if JPEGs were kept: they are not decoded,
  bool checked = true;            // but were checked
  std::string bytes_digest;
  std::uint64_t mended = 0;
  std::vector<Skipped> skipped;
  std::vector<std::string> notes =
      {};  // what the source assumed or passed over, and what was left out
};

/// Converts all of `stream` into the directory target.path, which exists and is empty: writes the
/// container's files, but no sidecar, and does not sync them to disk. Throws Error on damage in the
/// source or a failed write.
Conversion convert(std::unique_ptr<SampleStream> stream, const ConvertTarget& target,
                   const ConvertOptions& options);

/// What `feedrate convert` does for one split: opens the source, converts into `<path>.partial`,
/// writes the sidecar, renames. If it throws, nothing is left under target.path, and `<path>.partial`
/// stays only if `--resume` can continue from it. A part is written to `part_path(path, part)`; of
/// all parts, only the first hashes the inputs, since each part of a large archive would read all
/// of it.
Conversion convert_dataset(const Source& source, std::span<const std::filesystem::path> inputs,
                           const ConvertTarget& target, const ConvertOptions& options);

/// What an earlier call finished under target.path, or of a part under `part_path(path, part)`;
/// nothing when that does not exist. Seconds, and for a whole dataset its bytes and the samples left
/// out, are not known. Removes what that call left if it was killed after the last rename: its mark,
/// and the parts that it had joined. Throws Error naming what differs when it holds something else
/// than this conversion would make.
std::optional<Conversion> finished_conversion(const Source& source,
                                              std::span<const std::filesystem::path> inputs,
                                              const ConvertTarget& target,
                                              const ConvertOptions& options);

/// "<out>.part-3-of-8"
std::filesystem::path part_path(const std::filesystem::path& out, const ConversionPart& part);

}  // namespace feedrate::converters
