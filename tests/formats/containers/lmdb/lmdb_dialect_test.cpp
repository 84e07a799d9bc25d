// LMDBs of other tools, made here by liblmdb with the bytes that those tools write.

#include <gtest/gtest.h>
#include <lmdb.h>

#include "formats/containers/wire.h"
#include "formats/digests/digest.h"
#include "formats/io/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/from_hex.h"
#include "tests/support/lmdb_environment.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::decode_sample;
using testing::Environment;
using testing::expect_error;
using testing::from_hex;
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

std::string text(const Buffer& bytes) { return std::string(as_text(bytes)); }

std::string png_of(const Image& image) {
  Buffer encoded;
  png_codec.encode(image, encoded);
  return text(encoded);
}

// ---- Caffe2 ----

struct Tensor {
  std::vector<std::int64_t> dims;
  std::uint64_t type;
  std::uint32_t field;  // of the data
  std::string data;
};

std::string tensors(const std::vector<Tensor>& all) {
  Buffer message;
  for (const Tensor& each : all) {
    Buffer tensor;
    for (const std::int64_t dim : each.dims) {
      append_varint_field(tensor, wire_key(1, Wire::varint), dim);
    }
    append_varint_field(tensor, wire_key(2, Wire::varint), static_cast<std::int64_t>(each.type));
    append_delimited_field(tensor, wire_key(each.field, Wire::delimited), as_bytes(each.data));
    append_delimited_field(message, wire_key(1, Wire::delimited), tensor);
  }
  return text(message);
}

Tensor pixels(std::vector<std::int64_t> dims, std::string bytes) {
  return {std::move(dims), 3, 5, std::move(bytes)};
}
Tensor numbers(std::initializer_list<std::uint64_t> values, std::uint64_t type = 2) {
  Buffer packed;
  for (const std::uint64_t value : values) append_varint(packed, value);
  return {{}, type, type == 2 ? 4U : 10U, text(packed)};
}

const std::string six = "\x01\x02\x03\x04\x05\x06";  // two pixels

std::string decoded(const Sample& sample) { return hex(decode_sample(sample).pixels); }

TEST(InteropLmdbDialect, caffe2_s_digits_are_hwc_or_channel_first) {
  Opened set({{"00000000", tensors({pixels({2, 3, 1}, six), numbers({7})})},
              {"00000001", tensors({pixels({1, 2, 3}, six), numbers({300}, 10)})},
              {"00000002", tensors({pixels({3, 2}, six), numbers({0})})},
              {"00000003", tensors({pixels({1, 3, 2}, six), numbers({9})})}});
  EXPECT_EQ(set.dataset->info().codec, "raw");
  EXPECT_EQ(set[0].shape, (Shape{2, 3, 1}));
  EXPECT_EQ(set[0].label, 7);
  EXPECT_EQ(decoded(set[0]), "010203040506");
  EXPECT_EQ(set[1].shape, (Shape{1, 2, 3})) << "a last dim of 3 is the channels";
  EXPECT_EQ(set[1].label, 300);
  EXPECT_EQ(set[2].shape, (Shape{3, 2, 1}));
  EXPECT_EQ(set[3].shape, (Shape{3, 2, 1})) << "a first dim of 1 is the channels";
}

TEST(InteropLmdbDialect, caffe2_s_colours_are_rgb_under_bare_digits_and_bgr_beside_a_path) {
  Opened set({{"00000", tensors({pixels({1, 2, 3}, six), numbers({0})})},
              {"00000001_a/b.jpg", tensors({pixels({1, 2, 3}, six), numbers({1})})},
              {"00000002", tensors({pixels({3, 1, 2}, six), numbers({2})})},
              {"00000003_c.jpg", tensors({pixels({3, 1, 2}, six), numbers({3})})}});
  EXPECT_EQ(decoded(set[0]), "010203040506");
  EXPECT_EQ(decoded(set[1]), "030201060504");
  EXPECT_EQ(set[1].name, "a/b.jpg");
  EXPECT_EQ(decoded(set[2]), "010305020406");
  EXPECT_EQ(decoded(set[3]), "050301060402");
}

TEST(InteropLmdbDialect, caffe2_s_encoded_images_and_boxes_are_read) {
  const Image image = make_image({10, 20, 3}, 4);
  const Tensor file{{1}, 4, 6, png_of(image)};
  Opened set({{"00000000_a.png", tensors({file, numbers({5})})},
              {"00000001_b.png", tensors({file, numbers({6}), numbers({2, 5, 4, 10})})}});
  EXPECT_EQ(set.dataset->info().codec, "png");
  EXPECT_EQ(decode_sample(set[0]).pixels, image.pixels);
  EXPECT_TRUE(set[0].boxes.empty());
  ASSERT_EQ(set[1].boxes.size(), 1U);
  EXPECT_EQ(set[1].boxes[0], (Box{0.25F, 0.2F, 0.75F, 0.6F}));
}

TEST(InteropLmdbDialect, caffe2_s_uint8_pixels_may_be_numbers) {
  Tensor image = numbers({1, 2, 255, 4, 5, 6});
  image.type = 6;
  image.dims = {1, 2, 3};
  Opened set({{"00000000_x", tensors({image, numbers({5})})}});
  EXPECT_EQ(decoded(set[0]), "ff0201060504");
}

TEST(HostileLmdbDialect, tensors_that_are_no_image_and_label_are_refused_in_words) {
  const auto open_tensors = [](const std::vector<Tensor>& all) {
    open({{"00000000", tensors(all)}});
  };
  const Tensor good = pixels({2, 3, 1}, six);
  expect_error([&] { open_tensors({good}); },
               {"data.mdb", "sample 0", "key '00000000'", "1 tensors"});
  expect_error([&] { open_tensors({good, numbers({1, 2})}); }, {"label tensor", "holds 2 numbers"});
  expect_error([&] { open_tensors({good, good}); }, {"label tensor of type 3"});
  expect_error([&] { open_tensors({good, numbers({1ULL << 40}, 10)}); }, {"label tensor"});
  expect_error([&] { open_tensors({pixels({2, 3, 2}, six), numbers({1})}); }, {"3 dims (2, 3, 2)"});
  expect_error(
      [&] {
        open_tensors({pixels({-2, 3, 1}, six), numbers({1})});
      },
      {"3 dims (-2, 3, 1)"});
  expect_error(
      [&] {
        open_tensors({pixels({1 << 16, 1 << 16, 1}, six), numbers({1})});
      },
      {"3 dims"});
  expect_error([&] { open_tensors({pixels({1, 1, 1, 1, 6}, six), numbers({1})}); }, {"5 dims"});
  expect_error(
      [&] {
        open_tensors({pixels({3, 3, 1}, six), numbers({1})});
      },
      {"3x3x1", "holds 6 bytes"});
  expect_error(
      [&] {
        open_tensors({{{6}, 1, 3, "12345678"}, numbers({1})});
      },
      {"type 1", "BYTE (3)"});
  expect_error([&] { open_tensors({good, numbers({1}), numbers({1, 1, 9, 9})}); }, {"box tensor"});
  expect_error(
      [&] {
        open_tensors({good, numbers({1}), numbers({0, 0, 1, 1}), good});
      },
      {"fourth"});
  Tensor large = numbers({1, 256, 3, 4, 5, 6});
  large.type = 6;
  large.dims = {2, 3, 1};
  expect_error([&] { open_tensors({large, numbers({1})}); }, {"holds 256, which is no pixel"});
}

TEST(HostileLmdbDialect, ssd_s_annotated_datums_are_refused_by_name) {
  Buffer datum, message;
  append_delimited_field(datum, wire_key(4, Wire::delimited), as_bytes("\xff\xd8\xff\xe0jpeg"));
  append_varint_field(datum, wire_key(5, Wire::varint), -1);
  append_varint_field(datum, wire_key(7, Wire::varint), 1);
  append_delimited_field(message, wire_key(1, Wire::delimited), datum);
  expect_error(
      [&] {
        open({{"00000000_a.jpg", text(message)}});
      },
      {"sample 0", "AnnotatedDatum of SSD"});
  append_varint_field(message, wire_key(2, Wire::varint), 0);
  expect_error([&] { open({{"00000000_a.jpg", text(message)}}); }, {"AnnotatedDatum of SSD"});
}

TEST(HostileLmdbDialect, every_truncation_of_tensors_is_an_error) {
  const std::string whole = tensors({pixels({2, 3, 1}, six), numbers({7})});
  for (std::size_t size = 1; size < whole.size(); ++size) {
    expect_error([&] { open({{"00000000", whole.substr(0, size)}}); }, {"data.mdb", "sample 0"});
  }
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

// ---- folder2lmdb ----

// What Python's pickle.dumps gave for ([b'IMAGE'], numpy.array([7])) and (b'IMAGE', 7), the image
// put in the place of b'IMAGE'.
std::string pickled(std::string_view hex_before, const std::string& image,
                    std::string_view hex_after) {
  Buffer bytes;
  append_le(bytes, static_cast<std::uint32_t>(image.size()));
  std::string all = from_hex(hex_before) + "B" + text(bytes) + image + from_hex(hex_after);
  if (all[1] < 4) return all;
  Buffer frame;  // its length stands behind 80 04 95
  append_le(frame, static_cast<std::uint64_t>(all.size() - 11));
  return all.replace(3, 8, text(frame));
}

std::string pickle_of_pair(int protocol, const std::string& image) {
  return protocol == 3 ? pickled("8003", image, "71004b078671012e")
                       : pickled("8004950000000000000000", image, "944b0786942e");
}

std::string pickle_of_lists(const std::string& image) {
  return pickled(
      "80049500000000000000005d94", image,
      "94618c156e756d70792e636f72652e6d756c74696172726179948c0c5f7265636f6e73747275637494"
      "93948c056e756d7079948c076e6461727261799493944b0085944301629487945294284b014b018594"
      "68058c0564747970659493948c02693894898887945294284b038c013c944e4e4e4affffffff4affff"
      "ffff4b0074946289430807000000000000009474946286942e");
}

TEST(InteropLmdbDialect, pickles_are_read_in_the_order_of_their_numbers) {
  Entries entries;
  std::vector<Image> images;
  for (int i = 0; i < 12; ++i) {  // as bytes, "10" and "11" come before "2"
    images.push_back(make_image({6, 7, 3}, static_cast<std::uint32_t>(i)));
    const std::string png = png_of(images.back());
    entries.emplace_back(std::to_string(i), i % 3 == 0   ? pickle_of_lists(png)
                                            : i % 3 == 1 ? pickle_of_pair(3, png)
                                                         : pickle_of_pair(4, png));
  }
  entries.emplace_back("__keys__", from_hex("80045d942e"));
  entries.emplace_back("__len__", from_hex("80044b0c2e"));
  Opened set(entries);
  ASSERT_EQ(set.dataset->size(), 12U);
  for (std::uint64_t i = 0; i < 12; ++i) {
    EXPECT_EQ(decode_sample(set[i]).pixels, images[i].pixels) << i;
    EXPECT_EQ(set[i].label, 7);
    EXPECT_EQ(set[i].name, "");
  }
}

TEST(InteropLmdbDialect, bytes_that_protocol_2_keeps_as_text_are_an_image) {
  const Image image = make_image({3, 3, 1}, 5);
  std::string utf8;
  for (const char c : png_of(image)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      utf8 += c;
    } else {
      utf8 += {static_cast<char>(0xc0 | byte >> 6), static_cast<char>(0x80 | (byte & 0x3f))};
    }
  }
  Buffer size;
  append_le(size, static_cast<std::uint32_t>(utf8.size()));
  Opened set({{"0", from_hex("8002635f636f646563730a656e636f64650a710058") + text(size) + utf8 +
                        from_hex("710158060000006c6174696e3171028671035271044b078671052e")}});
  EXPECT_EQ(decode_sample(set[0]).pixels, image.pixels);
}

TEST(HostileLmdbDialect, pickles_of_other_things_are_refused_in_words) {
  const std::string good = pickle_of_pair(4, png_of(make_image({2, 2, 1}, 1)));
  expect_error([&] { open({{"0", good}, {"2", good}}); }, {"keys 0 to 1", "key '2'"});
  expect_error([&] { open({{"0", good}, {"00", good}}); }, {"keys 0 to 1", "key '00'"});
  expect_error([&] { open({{"0", good}, {"x", good}}); }, {"keys 0 to 1", "key 'x'"});
  expect_error(
      [&] {
        open({{"0", good}, {"__len__", from_hex("80044b022e")}});
      },
      {"__len__ states 2", "found 1"});
  expect_error([&] { open({{"0", from_hex("80044b072e")}}); }, {"sample 0", "(image, label)"});
  expect_error(
      [&] {
        open({{"0", from_hex("80034b074b0786710"
                             "12e")}});
      },
      {"pickled image"});
  expect_error(
      [&] {
        open({{"0", from_hex("8003430161430162867"
                             "1012e")}});
      },
      {"pickled label"});
  expect_error([&] { open({{"0", from_hex("80034301614b07867101")}}); }, {"sample 0", "byte "});
  expect_error([&] { open({{"0", from_hex("800363706f7369780a73797374656d0a2e")}}); }, {"posix"});
  expect_error(
      [&] {
        open({{"0", "\x92\xc4\x01x\x07"}, {"__len__", "\x01"}});
      },
      {"key '0'", "folder2lmdb", "pyarrow or msgpack"});
}

TEST(HostileLmdbDialect, what_no_tool_writes_is_refused_with_its_first_bytes) {
  expect_error([] { open({{"k", "<html"}, {"l", "\x28\x01"}}); }, {"up to 'l'", "different kinds"});
  expect_error([] { open({{"0", "b"}}); }, {"data.mdb", "key '0' (1 bytes, 62)", "no Caffe Datum"});
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
