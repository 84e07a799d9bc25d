// Mean images, in every dialect.

#include <cmath>
#include <limits>

#include "formats/io/file.h"
#include "formats/means/mean_format.h"
#include "tests/fuzz/fuzz.h"

namespace feedrate::fuzz {
using namespace formats;

namespace {

Buffer written(const MeanFormat& format, const StoredMean& mean) {
  const auto path = directory() / "mean";
  OutputFile file(path);
  format.write(mean, file);
  file.close();
  Buffer content;
  read_file(path, content);
  return content;
}

// Files hold 32-bit floats.
bool fits_float(const StoredMean& mean) {
  for (const double value : mean.values) {
    if (!(std::abs(value) <= std::numeric_limits<float>::max())) return false;
  }
  return true;
}

void check(const MeanFormat& format, Bytes content) {
  StoredMean mean;
  if (!accepts([&] { mean = format.read(content); })) return;
  require(format.knows(content), "what can be read is known by its content");
  require(mean.shape.plausible() && mean.values.size() == mean.shape.bytes(),
          "a mean has as many values as its shape says");
  if (!fits_float(mean)) return;
  const StoredMean again = format.read(written(format, mean));
  require(again.shape == mean.shape, "a mean keeps its size when it is written");
  for (std::size_t i = 0; i < mean.values.size(); ++i) {
    const auto value = static_cast<float>(mean.values[i]);
    const auto read = static_cast<float>(again.values[i]);
    require(std::abs(read - value) <= 1e-5F * std::abs(value), "a mean reads as it was written");
  }
}

}  // namespace

std::vector<Buffer> seeds() {
  std::vector<Buffer> all;
  for (const MeanFormat* format : mean_formats()) {
    all.push_back(written(*format, {{1, 2, 1}, {0.5, 255}}));
    all.push_back(written(*format, {{1, 2, 3}, {1, 2, 3, 4, 5, 6.25}}));
  }
  return all;
}

}  // namespace feedrate::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const feedrate::formats::Bytes content = feedrate::fuzz::fenced(data, size);
  for (const feedrate::formats::MeanFormat* format : feedrate::formats::mean_formats()) {
    feedrate::fuzz::check(*format, content);
  }
  return 0;
}
