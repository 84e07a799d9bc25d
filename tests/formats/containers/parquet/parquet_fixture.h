#pragma once
// Parquet files of the tests, and what is read of them.

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "formats/container.h"
#include "formats/io/file.h"
#include "tests/support/make_parquet.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {

namespace fs = std::filesystem;
using testing::make_image;
using testing::make_parquet;
using testing::ParquetRow;
using testing::ParquetWays;
using testing::TempDirectory;

class UnitParquet : public ::testing::Test {
 protected:
  using Lines = std::vector<std::string>;

  static std::vector<ParquetRow> rows(std::uint32_t count, std::uint32_t first = 0) {
    std::vector<ParquetRow> all;
    for (std::uint32_t i = first; i < first + count; ++i) {
      Buffer png;
      const Image image = make_image({3 + i % 2, 4, 3}, i % 5);  // some are alike
      png_codec.encode(image, png);
      all.push_back({std::string(as_text(png)), i % 3, i % 4 == 0 ? "" : join(i, ".png")});
    }
    return all;
  }
  fs::path write(Bytes bytes, const std::string& name = "a.parquet") const {
    fs::create_directories((temporary_ / name).parent_path());
    std::ofstream(temporary_ / name, std::ios::binary) << as_text(bytes);
    return temporary_ / name;
  }
  static std::string line(std::string_view image, std::int64_t label, std::string_view name) {
    return join(label, ' ', name, ' ', image);
  }
  static Lines expected(const std::vector<ParquetRow>& rows) {
    Lines all;
    for (const ParquetRow& row : rows) all.push_back(line(*row.image, row.label, row.name));
    return all;
  }
  static Lines samples_in(const fs::path& path) {
    const auto dataset = open_dataset(path);
    Lines samples;
    Scratch scratch;
    for (std::uint64_t i = 0; i < dataset->size(); ++i) {
      const Sample sample = dataset->read(i, scratch);
      samples.push_back(line(as_text(sample.bytes), sample.label, sample.name));
      EXPECT_EQ(sample.label, dataset->label(i, scratch));
      EXPECT_TRUE(dataset->look_ahead(i));
    }
    return samples;
  }

  TempDirectory temporary_;
};

}  // namespace feedrate::formats
