// Map files: their lines, and the images beside them.

#include <algorithm>

#include "formats/container.h"
#include "tests/fuzz/decode.h"

namespace feedrate::fuzz {
using namespace formats;

namespace {

constexpr std::uint64_t max_samples = 16;

// An image beside the map.
void prepare() {
  static const bool once = [] {
    Buffer image;
    png_codec.encode(small_image({2, 3, 3}), image);
    file_of(image, "a.png");
    return true;
  }();
  require(once, "the image is there");
}

}  // namespace

std::vector<Buffer> seeds() {
  return {buffer("a.png\t0\na.png\t7\n"), buffer("key\t.../a.png\t2\r\n"),
          buffer("a.png\t2147483647\nmissing.png\t1")};
}

}  // namespace feedrate::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedrate::formats;
  using namespace feedrate::fuzz;
  prepare();
  const auto path = file_of(fenced(data, size), "x_map.txt");
  std::unique_ptr<Dataset> dataset;
  if (!accepts([&] { dataset = container("png-map").open(path); })) return 0;
  require(dataset->size() > 0, "a dataset that opens holds something");
  Scratch scratch;
  for (std::uint64_t i = 0; i < std::min(dataset->size(), max_samples); ++i) {
    accepts([&] {
      const Sample sample = dataset->read(i, scratch);
      require(sample.label >= 0, "a label is a class number");
      Buffer pixels(sample.shape.bytes());
      decode(sample, pixels);
    });
  }
  return 0;
}
