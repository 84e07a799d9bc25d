#include "formats/means/mean_format.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "formats/base/error.h"
#include "formats/io/file.h"
#include "formats/io/mapped_file.h"
#include "formats/means/mean.h"

namespace feedrate::formats {

#define FEEDRATE_ROW(name) extern const MeanFormat& name##_mean_format;
#include "formats/means/list.inc"
#undef FEEDRATE_ROW

namespace {

namespace fs = std::filesystem;

const MeanFormat* by_extension(const fs::path& file) {
  const auto rows = mean_formats();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const MeanFormat* candidate) {
    return file.extension() == candidate->extension();
  });
  return row == rows.end() ? nullptr : *row;
}

// Index of a value (pixel, channel) of an image in a file of that layout.
class Position {
 public:
  Position(Shape shape, MeanLayout layout)
      : pixels_(std::size_t{shape.height} * shape.width),
        channels_(shape.channels),
        planar_(layout == MeanLayout::planar_rgb || layout == MeanLayout::planar_bgr),
        bgr_(layout == MeanLayout::interleaved_bgr || layout == MeanLayout::planar_bgr) {}

  std::size_t of(std::size_t pixel, std::size_t channel) const {
    const std::size_t stored = bgr_ ? channels_ - 1 - channel : channel;
    return planar_ ? stored * pixels_ + pixel : pixel * channels_ + stored;
  }

 private:
  std::size_t pixels_;
  std::size_t channels_;
  bool planar_;
  bool bgr_;
};

}  // namespace

std::string_view layout_text(MeanLayout layout) {
  switch (layout) {
    case MeanLayout::interleaved_rgb:
      return "interleaved R, G, B";
    case MeanLayout::interleaved_bgr:
      return "interleaved B, G, R";
    case MeanLayout::planar_rgb:
      return "planes R, G, B";
    case MeanLayout::planar_bgr:
      break;
  }
  return "planes B, G, R";
}

std::span<const MeanFormat* const> mean_formats() {
  static const MeanFormat* const all[] = {
#define FEEDRATE_ROW(name) &name##_mean_format,
#include "formats/means/list.inc"
#undef FEEDRATE_ROW
  };
  return all;
}

const MeanFormat& mean_format(const fs::path& file) {
  if (const MeanFormat* row = by_extension(file)) return *row;
  std::string known;
  for (const MeanFormat* row : mean_formats()) {
    known += join(known.empty() ? "" : ", ", row->extension(), " (", row->name(), ")");
  }
  fail(file, "unknown extension of a mean image; there are ", known);
}

const MeanFormat* mean_format_of(const fs::path& file) {
  const MeanFormat* row = by_extension(file);
  if (row == nullptr) return nullptr;
  try {
    return row->knows(MappedFile(file).bytes()) ? row : nullptr;
  } catch (const Error&) {
    return nullptr;
  }
}

Shape mean_shape(std::uint64_t height, std::uint64_t width, std::uint64_t channels) {
  constexpr std::uint64_t max_side = 65535;
  const bool sides = height - 1 < max_side && width - 1 < max_side;
  if (!sides || (channels != 1 && channels != 3) || height * width * channels > max_mean_values) {
    throw Error(join("states ", height, "x", width, "x", channels,
                     " (height, width, channels), which cannot be a mean image"));
  }
  return {static_cast<std::uint32_t>(height), static_cast<std::uint32_t>(width),
          static_cast<std::uint32_t>(channels)};
}

MeanImage read_mean(const fs::path& file, std::optional<MeanLayout> layout) {
  const MeanFormat& format = mean_format(file);
  const MappedFile content(file);
  StoredMean stored;
  try {
    stored = format.read(content.bytes());
    assert(stored.values.size() == stored.shape.bytes());
    const auto odd = std::find_if_not(stored.values.begin(), stored.values.end(),
                                      [](double value) { return std::isfinite(value); });
    if (odd != stored.values.end()) {
      throw Error(join("value ", odd - stored.values.begin(), " is not a finite number"));
    }
  } catch (const Error& error) {
    fail(file, error.what());
  }
  MeanImage mean{stored.shape, std::vector<double>(stored.values.size())};
  const Position position(stored.shape, layout.value_or(format.layout()));
  for (std::size_t i = 0; i < mean.values.size(); ++i) {
    mean.values[i] =
        stored.values[position.of(i / stored.shape.channels, i % stored.shape.channels)];
  }
  return mean;
}

void write_mean(const fs::path& file, const MeanImage& mean, std::optional<MeanLayout> layout) {
  assert(mean.values.size() == mean.shape.bytes());
  const MeanFormat& format = mean_format(file);
  StoredMean stored{mean.shape, std::vector<double>(mean.values.size())};
  const Position position(mean.shape, layout.value_or(format.layout()));
  for (std::size_t i = 0; i < mean.values.size(); ++i) {
    stored.values[position.of(i / mean.shape.channels, i % mean.shape.channels)] = mean.values[i];
  }
  replace_file(file, [&](OutputFile& output) { format.write(stored, output); });
}

MeanLayout mean_layout_for(const MeanFormat& format, const Dataset& dataset) {
  if (&format != &caffe_mean_format) return format.layout();
  Scratch scratch;
  const bool rgb = dataset.read(0, scratch).order == PixelOrder::planar_rgb;
  return rgb ? MeanLayout::planar_rgb : format.layout();
}

}  // namespace feedrate::formats
