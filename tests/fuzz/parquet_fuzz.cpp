// A Parquet file of images and labels; what is unpacked page by page is what is unpacked at once.

#include <cstdlib>

#include "formats/base/error.h"
#include "formats/containers/parquet/parquet_file.h"
#include "tests/fuzz/indexed.h"
#include "tests/support/make_parquet.h"

namespace feedrate::fuzz {
using namespace formats;

std::vector<Buffer> seeds() {
  Buffer png;
  png_codec.encode(small_image({2, 3, 1}), png);
  const std::string image(as_text(png));
  const std::vector<testing::ParquetRow> rows = {
      {image, 1, "a.png", "one"}, {image, 2, "", "two"}, {image, 0, "b", "one"}};
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
    all.push_back(testing::make_parquet(rows, {.dictionary = dictionary, .text_labels = true}));
  }
  return all;
}

void compare_ways(const std::filesystem::path& path) {
  try {
    const ParquetFile whole(OpenParquet(path, {}), true);
    const ParquetFile paged(OpenParquet(path, {}), false);
    if (paged.rows() != whole.rows()) std::abort();
    ParquetPageCache pages;
    Buffer one, other;
    for (std::uint64_t row = 0; row < whole.rows(); ++row) {
      try {
        const Bytes image = whole.image(row, one, pages);
        if (as_text(image) != as_text(paged.image(row, other, pages))) std::abort();
      } catch (const Error&) {
        continue;
      }
    }
  } catch (const Error&) {
    return;
  }
}

}  // namespace feedrate::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedrate::fuzz;
  const auto file = file_of(fenced(data, size), "a.parquet");
  samples_of(feedrate::formats::container("parquet"), file);
  compare_ways(file);
  return 0;
}
