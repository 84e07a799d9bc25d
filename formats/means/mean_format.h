#pragma once
// Mean images in files, in the dialects of the tools that subtract them. A registry like every
// kind; a file's extension names its dialect.

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "formats/base/kind.h"
#include "formats/dataset.h"

namespace feedrate::formats {

class OutputFile;

/// How the values of a mean image lie in a file. Of a grey one, all are the same.
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
  MeanLayout layout() const { return layout_; }              // that the owning tool expects
  /// True when a file that has the extension holds a mean, and not something else of that kind.
  virtual bool knows(Bytes content) const = 0;
  /// Throws Error (without a place) on damage, and on anything but one image of finite values.
  virtual StoredMean read(Bytes content) const = 0;
  /// Values become 32-bit floats.
  virtual void write(const StoredMean& mean, OutputFile& file) const = 0;

 private:
  std::string_view extension_;
  MeanLayout layout_;
};

/// All dialects, in the order of help.
std::span<const MeanFormat* const> mean_formats();
/// By extension; throws Error naming those there are.
const MeanFormat& mean_format(const std::filesystem::path& file);
/// By extension and content; null when the file holds no mean, or cannot be looked at.
const MeanFormat* mean_format_of(const std::filesystem::path& file);

/// `layout`: nothing for what the tool that owns the dialect expects. Caffe's means of CIFAR are an
/// exception (planar_rgb, as its LMDB is), and so are those that CNTK's own script wrote.
MeanImage read_mean(const std::filesystem::path& file, std::optional<MeanLayout> layout = {});
/// The file appears whole or not at all.
void write_mean(const std::filesystem::path& file, const MeanImage& mean,
                std::optional<MeanLayout> layout = {});

/// The numbers of a header as the shape of a mean image, for the readers of the dialects. Throws
/// Error when they cannot be one.
Shape mean_shape(std::uint64_t height, std::uint64_t width, std::uint64_t channels);

/// The layout in which the dialect's owner will see the images of `dataset`: Caffe's is that of the
/// planes of a raw LMDB, if it is one.
MeanLayout mean_layout_for(const MeanFormat& format, const Dataset& dataset);

}  // namespace feedrate::formats
