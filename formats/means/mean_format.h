#pragma once
// Mean images in files, in the dialects of the tools that subtract them. A file's extension selects
// its dialect.

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "formats/base/kind.h"
#include "formats/dataset.h"

namespace feedrate::formats {

class OutputFile;

/// The order of a mean image's values in a file. For grey images all are the same.
enum class MeanLayout : std::uint8_t { interleaved_rgb, interleaved_bgr, planar_rgb, planar_bgr };

/// "interleaved B, G, R"
std::string_view layout_text(MeanLayout layout);

/// A mean image in the layout of its file.
struct StoredMean {
  Shape shape;
  std::vector<double> values;  // shape.bytes() of them
};

class MeanFormat : public Kind {
 public:
  MeanFormat(std::string_view name, std::string_view summary, std::string_view extension,
             MeanLayout layout)
      : Kind(name, summary), extension_(extension), layout_(layout) {}

  std::string_view extension() const { return extension_; }  // ".xml"
  MeanLayout layout() const { return layout_; }              // the one that the owning tool expects
  /// True when a file with this extension holds a mean image rather than something else.
  virtual bool knows(Bytes content) const = 0;
  /// Throws Error, without naming the file, on damage and for anything but one image of finite
  /// values.
  virtual StoredMean read(Bytes content) const = 0;
  /// Stores values as 32-bit floats.
  virtual void write(const StoredMean& mean, OutputFile& file) const = 0;

 private:
  std::string_view extension_;
  MeanLayout layout_;
};

/// All dialects, in the order of help.
std::span<const MeanFormat* const> mean_formats();
/// By extension; throws Error naming the known ones.
const MeanFormat& mean_format(const std::filesystem::path& file);
/// By extension and content; null when the file holds no mean image or cannot be read.
const MeanFormat* mean_format_of(const std::filesystem::path& file);

/// Without `layout`, assumes the one that the dialect's tool expects. Exceptions are Caffe's means
/// of CIFAR (planar_rgb, like its LMDB) and those written by CNTK's own script.
MeanImage read_mean(const std::filesystem::path& file, std::optional<MeanLayout> layout = {});
/// Writes a file that appears whole or not at all.
void write_mean(const std::filesystem::path& file, const MeanImage& mean,
                std::optional<MeanLayout> layout = {});

/// Checks the numbers of a header, for the readers of the dialects. Throws Error when they cannot
/// be the shape of a mean image.
Shape mean_shape(std::uint64_t height, std::uint64_t width, std::uint64_t channels);

/// The layout in which the dialect's tool sees the images of `dataset`: for Caffe that of the
/// planes in a raw LMDB, if the dataset is one.
MeanLayout mean_layout_for(const MeanFormat& format, const Dataset& dataset);

}  // namespace feedrate::formats
