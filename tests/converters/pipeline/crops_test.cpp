#include "converters/pipeline/describe_conversion.h"

#include <gtest/gtest.h>

#include "converters/convert.h"
#include "converters/pipeline/join.h"
#include "formats/crops/crop_index.h"
#include "formats/io/file.h"
#include "formats/verify/verify.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;
using namespace feedrate::testing;

class UnitConvertCrops : public ::testing::Test {
 protected:
  void SetUp() override {
    write_dataset(container("recordio"), jpeg_codec, temporary_ / "set",
                  make_examples({160, 170, 3}, 10));
  }

  Conversion convert(const std::string& out, const ConvertOptions& options) const {
    const fs::path inputs[] = {temporary_ / "set"};
    const Source& from = source("dataset");
    return convert_dataset(from, inputs,
                           {container("webdataset"), temporary_ / out, from.splits(inputs).front()},
                           options);
  }

  std::string index_of(const std::string& out) const {
    return read_text(temporary_ / out / "feedrate.crops");
  }

  TempDirectory temporary_;
};

TEST_F(UnitConvertCrops, a_conversion_and_joined_parts_have_the_same_index) {
  convert("whole", {.shards = 2, .crops = true});
  for (const std::uint32_t number : {1U, 2U}) {
    convert("joined", {.shards = 2, .part = {number, 2}, .crops = true});
    EXPECT_FALSE(fs::exists(part_path(temporary_ / "joined", {number, 2}) / "feedrate.crops"));
  }
  join_parts(temporary_ / "joined");
  EXPECT_EQ(index_of("joined"), index_of("whole"));
  for (const char* name : {"whole", "joined"}) {
    const auto dataset = open_dataset(temporary_ / name);
    EXPECT_TRUE(find_crop_index(*dataset).index);
    EXPECT_TRUE(verify(*dataset, 1).findings.empty());
    EXPECT_EQ(dataset->info().sidecar->options.back(), "--crops");
  }
}

TEST_F(UnitConvertCrops, without_the_option_or_without_jpegs_there_is_none) {
  convert("plain", {});
  EXPECT_FALSE(fs::exists(temporary_ / "plain/feedrate.crops"));
  convert("png", {.encoding = parse_encoding("png"), .crops = true});
  EXPECT_FALSE(fs::exists(temporary_ / "png/feedrate.crops"));
  const auto sidecar = read_sidecar(temporary_ / "png");
  ASSERT_TRUE(sidecar);
  ASSERT_FALSE(sidecar->notes.empty());
  EXPECT_NE(sidecar->notes.back().find("no crop index"), std::string::npos);
}

}  // namespace
}  // namespace feedrate::converters
