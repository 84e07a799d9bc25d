#include "formats/sidecar.h"

#include <gtest/gtest.h>

#include "formats/digests/digest.h"
#include "formats/io/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

using testing::expect_error;
using testing::TempDirectory;

TEST(UnitSidecar, everything_written_is_read_again) {
  Sidecar written;
  written.tool_version = "1.2.3";
  written.source = "mnist";
  written.split = "train";
  written.format = "lmdb";
  written.codec = "raw";
  written.count = 60000;
  written.shape = {28, 28, 1};
  written.classes = 2;
  written.class_names.names = {"zero", "\"one\"\n"};
  written.digest = "d1";
  written.set_digest = "d2";
  written.inputs = {{"a.gz", 12, "aa"}, {"b.gz", 34, "bb"}};
  written.options = {"--limit", "3"};
  TempDirectory temporary;
  write_sidecar(temporary.path(), written);
  const std::optional<Sidecar> read = read_sidecar(temporary.path());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->tool_version, written.tool_version);
  EXPECT_EQ(read->source, written.source);
  EXPECT_EQ(read->split, written.split);
  EXPECT_EQ(read->format, written.format);
  EXPECT_EQ(read->codec, written.codec);
  EXPECT_EQ(read->label_space, "0-based");
  EXPECT_EQ(read->count, written.count);
  EXPECT_EQ(read->shape, written.shape);
  EXPECT_EQ(read->classes, written.classes);
  EXPECT_EQ(read->class_names.names, written.class_names.names);
  EXPECT_EQ(read->digest, written.digest);
  EXPECT_EQ(read->set_digest, written.set_digest);
  EXPECT_EQ(read->options, written.options);
  ASSERT_EQ(read->inputs.size(), 2U);
  EXPECT_EQ(read->inputs[1].name, "b.gz");
  EXPECT_EQ(read->inputs[1].bytes, 34U);
  EXPECT_EQ(read->inputs[1].hash, "bb");
}

TEST(UnitSidecar, its_last_key_is_the_checksum_of_the_text_in_front_of_it) {
  TempDirectory temporary;
  Sidecar sidecar;
  sidecar.class_names.names = {"ant", "bee"};
  write_sidecar(temporary.path(), sidecar);
  const std::string text = read_text(temporary / sidecar_name);
  const std::size_t at = text.find(",\n  \"checksum\": \"xxh128:");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(text.substr(text.size() - 4), "\"\n}\n");
  SidecarChecksum checksum = sidecar_checksum(temporary.path());
  EXPECT_EQ(checksum.stated, checksum.found);
  EXPECT_EQ(checksum.found, "xxh128:" + hex(stored_digest(0, as_bytes(text.substr(0, at)))));
  std::string changed = text;
  changed.replace(text.find("bee"), 3, "bed");
  write_text(temporary / sidecar_name, changed);
  checksum = sidecar_checksum(temporary.path());
  EXPECT_EQ(checksum.stated, text.substr(at + 17, 39));
  EXPECT_NE(checksum.stated, checksum.found);
  write_text(temporary / sidecar_name, "{\"notes\": []\n}\n");
  EXPECT_EQ(sidecar_checksum(temporary.path()).stated, "") << "older versions wrote none";
}

TEST(UnitSidecar, hashes_of_an_older_feedrate_are_kept_with_what_they_are) {
  TempDirectory temporary;
  write_text(temporary / "feedrate.json", R"({"inputs": [{"name": "a.gz", "sha256": "00ff"}]})");
  const std::optional<Sidecar> read = read_sidecar(temporary.path());
  ASSERT_EQ(read.value().inputs.size(), 1U);
  EXPECT_EQ(read->inputs[0].hash, "sha256:00ff");
  write_sidecar(temporary.path(), *read);
  EXPECT_EQ(read_sidecar(temporary.path()).value().inputs.at(0).hash, "sha256:00ff");
}

TEST(UnitSidecar, a_file_s_sidecar_lies_in_its_directory) {
  TempDirectory temporary;
  write_sidecar(temporary.path(), Sidecar{});
  write_text(temporary / "data.rec", "");
  EXPECT_TRUE(read_sidecar(temporary / "data.rec"));
}

TEST(UnitSidecar, none_is_no_error_and_missing_keys_keep_their_defaults) {
  TempDirectory temporary;
  EXPECT_FALSE(read_sidecar(temporary.path()));
  write_text(temporary / sidecar_name, R"({"count": 5, "of_the_future": [1, 2]})");
  EXPECT_EQ(read_sidecar(temporary.path())->count, 5U);
  EXPECT_EQ(read_sidecar(temporary.path())->label_space, "0-based");
}

TEST(HostileSidecar, nonsense_is_an_error_that_names_the_file) {
  TempDirectory temporary;
  for (const char* nonsense :
       {"", "{", "[1]", "7", R"({"count": "many"})", R"({"count": -1})", R"({"inputs": [3]})",
        R"({"inputs": {"a": 1}})", R"({"shape": 3})", "\xff\xfe"}) {
    write_text(temporary / sidecar_name, nonsense);
    try {
      read_sidecar(temporary.path());
    } catch (const Error& error) {
      EXPECT_NE(std::string_view(error.what()).find("feedrate.json"), std::string_view::npos);
      continue;
    }
    // Values of an unexpected type may be read as defaults, but must never crash.
  }
  write_text(temporary / sidecar_name, "{");
  expect_error([&] { read_sidecar(temporary.path()); }, {"feedrate.json", "cannot be understood"});
}

TEST(HostileSidecar, names_that_are_no_utf_8_are_written_all_the_same) {
  TempDirectory temporary;
  Sidecar sidecar;
  sidecar.source = "\xff";
  write_sidecar(temporary.path(), sidecar);
  EXPECT_TRUE(read_sidecar(temporary.path()));
}

}  // namespace
}  // namespace feedrate::formats
