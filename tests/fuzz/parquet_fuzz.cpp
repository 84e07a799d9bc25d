// A Parquet file of images and labels.

#include "tests/fuzz/indexed.h"
#include "tests/support/make_parquet.h"

namespace feedrate::fuzz {
using namespace formats;

std::vector<Buffer> seeds() {
  Buffer png;
  png_codec.encode(small_image({2, 3, 1}), png);
  const std::string image(as_text(png));
  const std::vector<testing::ParquetRow> rows = {
      {image, 1, "a.png"}, {image, 2, ""}, {image, 0, "b"}};
  std::vector<Buffer> all;
  for (const bool dictionary : {false, true}) {
    for (const std::int32_t codec : {0, 1}) {
      all.push_back(testing::make_parquet(
          rows, {.codec = codec,
                 .second_version = dictionary,
                 .dictionary = dictionary,
                 .rows_a_group = 2,
                 .features = R"({"info":{"features":{"label":{"names":["a","b","c"]}}}})"}));
    }
  }
  return all;
}

}  // namespace feedrate::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedrate::fuzz;
  samples_of(feedrate::formats::container("parquet"), file_of(fenced(data, size), "a.parquet"));
  return 0;
}
