// LMDBs of other tools, made here by liblmdb with the bytes that those tools write.

#include <gtest/gtest.h>
#include <lmdb.h>

#include "formats/containers/wire.h"
#include "formats/io/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/lmdb_environment.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::decode_sample;
using testing::Environment;
using testing::expect_error;
using testing::make_image;
using testing::TempDirectory;
using Entries = std::vector<std::pair<std::string, std::string>>;
using namespace std::string_literals;

// A database of these entries, opened, and the directory it lies in.
struct Opened {
  explicit Opened(const Entries& entries, const std::string& name = "set") {
    fs::create_directory(temporary / name);
    {
      Environment made(temporary / name, 0);
      for (const auto& [key, value] : entries) made.put(key, value);
      made.commit();
    }
    dataset = open_dataset(temporary / name);
  }
  Sample operator[](std::uint64_t index) { return dataset->read(index, scratch); }

  TempDirectory temporary;
  std::unique_ptr<Dataset> dataset;
  Scratch scratch;
};

void open(const Entries& entries) { Opened opened(entries); }

std::string png_of(const Image& image) {
  Buffer encoded;
  png_codec.encode(image, encoded);
  return std::string(as_text(encoded));
}

// ---- LSUN, BasicSR ----

TEST(InteropLmdbDialect, images_as_they_are_have_their_key_as_name_and_class_0) {
  const Image a = make_image({8, 9, 3}, 1), b = make_image({5, 4, 1}, 2);
  Opened set({{"0801", png_of(a)}, {"0901_s001", png_of(b)}, {"zz", png_of(b)}});
  EXPECT_EQ(set.dataset->size(), 3U);
  EXPECT_EQ(set.dataset->info().codec, "png");
  EXPECT_EQ(set[0].name, "0801");
  EXPECT_EQ(set[1].name, "0901_s001");
  EXPECT_EQ(set[1].label, 0);
  EXPECT_EQ(decode_sample(set[0]).pixels, a.pixels);
}

TEST(InteropLmdbDialect, images_of_a_kind_without_codec_are_counted) {
  const Entries entries{{"a", "GIF89a…"}};
  EXPECT_EQ(Opened(entries).dataset->info().codec, "unknown: GIF");
}

// ---- what is not read ----

TEST(HostileLmdbDialect, values_of_other_tools_are_refused_in_words) {
  const Entries pickles{{"0", "\x80\x03K\x05."}, {"__len__", "\x80\x03K\x01."}};
  expect_error([&] { open(pickles); },
               {"data.mdb", "key '0' (5 bytes, 80034b052e) is neither a Caffe Datum nor",
                "looks like a pickle, as folder2lmdb writes"});
  const Entries tensors{{"00000000", "\x0a\x02\x10\x03\x0a\x02\x10\x02"}};
  expect_error([&] { open(tensors); },
               {"data.mdb", "key '00000000' (8 bytes, 0a0210030a021002) is neither",
                "looks like Caffe2's TensorProtos or an AnnotatedDatum of SSD"});
}

TEST(HostileLmdbDialect, what_no_tool_writes_is_refused_with_its_first_bytes) {
  expect_error([] { open({{"k", "<html"}, {"l", "\x28\x01"}}); }, {"up to 'l'", "different kinds"});
  expect_error([] { open({{"0", "b"}}); }, {"data.mdb", "key '0' (1 bytes, 62) is neither"});
  expect_error([] { open({{"0", "\xc0 0123456789"}}); }, {"(12 bytes, c020303132333435 …)"});
}

// ---- what reading does not look at ----

std::vector<Finding> audit(const Dataset& dataset) {
  std::vector<Finding> findings;
  dataset.audit([&](Finding finding) { findings.push_back(std::move(finding)); });
  return findings;
}

TEST(UnitLmdbAudit, a_name_that_two_samples_have_is_found_and_gaps_are_none) {
  const std::string datum = "\x08\x01\x10\x01\x18\x01\x22\x01x\x28\x01";
  const Opened set({{"00000000_a.png", datum},
                    {"00000002_b.png", datum},
                    {"00000007_a.png", datum},
                    {"00000009", datum},
                    {"00000010", datum}});
  const std::vector<Finding> findings = audit(*set.dataset);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].place.find("data.mdb: sample 2"), std::string::npos);
  EXPECT_EQ(findings[0].problem, "has the name 'a.png' of sample 0");
}

TEST(UnitLmdbAudit, the_labels_in_the_keys_of_digits_are_no_names) {
  Entries entries;
  for (int i = 0; i < 4; ++i) {
    entries.emplace_back("0000000"s + char('0' + i) + "_" + char('0' + i % 2),
                         "\x08\x03\x10\x01\x18\x01\x22\x03xyz\x28"s + char(i % 2));
  }
  Opened set(entries);
  EXPECT_TRUE(audit(*set.dataset).empty());
  EXPECT_EQ(set[3].name, "");
  EXPECT_EQ(set[3].label, 1);
  EXPECT_EQ(set[3].order, PixelOrder::planar_bgr) << "as convert_imageset's";
}

TEST(UnitLmdbDialect, the_order_of_planes_is_said_and_may_be_named) {
  const std::string datum = "\x08\x03\x10\x01\x18\x01\x22\x03\x01\x02\x03\x28\x01";
  for (const bool named : {false, true}) {
    Opened set({{named ? "00000000_a.png" : "00000000", datum}});
    const fs::path path = set.temporary / "set";
    ASSERT_EQ(set.dataset->info().notes.size(), 1U);
    EXPECT_NE(set.dataset->info().notes[0].find(named ? "B, G, R" : "R, G, B"), std::string::npos);
    for (const char* const order : {"rgb", "bgr"}) {
      const auto wished = open_dataset(path.string() + "?order=" + order);
      EXPECT_TRUE(wished->info().notes.empty());
      const Buffer expected = order == "rgb"s ? Buffer{std::byte{1}, std::byte{2}, std::byte{3}}
                                              : Buffer{std::byte{3}, std::byte{2}, std::byte{1}};
      EXPECT_EQ(decode_sample(wished->read(0, set.scratch)).pixels, expected);
    }
    expect_error([&] { open_dataset(path.string() + "?label=x"); }, {"?order=bgr", "'label=x'"});
  }
}

TEST(UnitLmdbDialect, a_file_of_an_image_is_known_without_field_7) {
  const Image image = make_image({8, 9, 3}, 1);
  Buffer datum;
  const std::string png = png_of(image);
  datum.push_back(std::byte{0x08}), datum.push_back(std::byte{3});  // a shape of other pixels
  append_delimited_field(datum, wire_key(4, Wire::delimited), as_bytes(png));
  Opened set({{"00000000", std::string(as_text(datum))}});
  EXPECT_EQ(decode_sample(set[0]).pixels, image.pixels);
}

TEST(UnitLmdbDialect, named_databases_are_named) {
  const TempDirectory temporary;
  fs::create_directory(temporary / "set");
  {
    Environment made(temporary / "set", 0, "images");
    made.put("a", "b");
    made.commit();
  }
  expect_error([&] { open_dataset(temporary / "set"); },
               {"data.mdb", "holds named databases, such as 'images'"});
}

TEST(UnitLmdbAudit, pages_with_two_uses_are_found) {
  TempDirectory temporary;
  testing::write_dataset(container("lmdb"), raw_codec, temporary / "set",
                         testing::make_examples({60, 70, 1}, 3));
  Buffer file;
  read_file(temporary / "set/data.mdb", file);
  EXPECT_TRUE(audit(*open_dataset(temporary / "set")).empty());
  // The second value's first page becomes that of the first value.
  const std::size_t second = as_text(file).rfind("00000001") + 8;
  const std::size_t first = as_text(file).rfind("00000000") + 8;
  std::copy_n(file.begin() + static_cast<long>(first), 8, file.begin() + static_cast<long>(second));
  fs::remove(temporary / "set/data.mdb");
  OutputFile damaged(temporary / "set/data.mdb");
  damaged.write(file);
  damaged.close();
  const std::vector<Finding> findings = audit(*open_dataset(temporary / "set"));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].problem.find("has two uses"), std::string::npos);
}

}  // namespace
}  // namespace feedrate::formats
