#include "converters/imagenet/mat_file.h"

#include <gtest/gtest.h>

#include "converters/archive.h"
#include "tests/converters/make_archive.h"
#include "tests/support/data.h"
#include "tests/support/expect_error.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using namespace feedrate::testing;

MatArray numbers(std::vector<double> values) {
  MatArray array;
  array.dimensions = {1, static_cast<std::uint32_t>(values.size())};
  array.numbers = std::move(values);
  return array;
}

MatArray text(const std::string& value) {
  MatArray array;
  array.kind = MatArray::Kind::text;
  array.dimensions = {1, static_cast<std::uint32_t>(value.size())};
  array.text = value;
  return array;
}

MatArray named(MatArray array, const std::string& name) {
  array.name = name;
  return array;
}

MatArray two_synsets() {
  MatArray array;
  array.kind = MatArray::Kind::structs;
  array.name = "synsets";
  array.dimensions = {2, 1};
  array.fields = {"ILSVRC2012_ID", "WNID", "x"};
  array.elements = {numbers({1}),   text("n02119789"), numbers({}),
                    numbers({300}), text("n0"),        numbers({1, 2, 70000})};
  return array;
}

// A file with one variable that is not compressed, its element made of `body`.
Buffer plain_file(const Buffer& body, std::uint32_t type = 14) {
  Buffer file = write_mat_file({});
  append_le(file, type);
  append_le(file, static_cast<std::uint32_t>(body.size()));
  append(file, body);
  return file;
}

void put(Buffer& to, std::uint32_t type, const std::string& data) {
  append_le(to, type);
  append_le(to, static_cast<std::uint32_t>(data.size()));
  append(to, as_bytes(data));
  to.resize((to.size() + 7) / 8 * 8);
}

std::string words(std::initializer_list<std::uint32_t> values) {
  std::string bytes;
  for (const std::uint32_t value : values) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return bytes;
}

// The elements that every array begins with.
Buffer array_of(std::uint32_t kind, std::initializer_list<std::uint32_t> dimensions) {
  Buffer body;
  put(body, 6, words({kind, 0}));
  put(body, 5, words(dimensions));
  put(body, 1, "");
  return body;
}

TEST(UnitMatFile, what_is_written_is_read) {
  const auto read = read_mat_file(
      write_mat_file({two_synsets(), named(numbers({-1.5, 0, 1e300}), "n")}), "file.mat");
  ASSERT_EQ(read.size(), 2U);
  const MatArray& synsets = read[0];
  EXPECT_EQ(synsets.kind, MatArray::Kind::structs);
  EXPECT_EQ(synsets.name, "synsets");
  EXPECT_EQ(synsets.dimensions, (std::vector<std::uint32_t>{2, 1}));
  EXPECT_EQ(synsets.fields, two_synsets().fields);
  ASSERT_EQ(synsets.elements.size(), 6U);
  EXPECT_EQ(synsets.elements[1].text, "n02119789");
  EXPECT_TRUE(synsets.elements[2].numbers.empty());
  EXPECT_EQ(synsets.elements[3].numbers, std::vector<double>{300});
  EXPECT_EQ(synsets.elements[4].text, "n0") << "a small element";
  EXPECT_EQ(synsets.elements[5].numbers, (std::vector<double>{1, 2, 70000}));
  EXPECT_EQ(read[1].numbers, (std::vector<double>{-1.5, 0, 1e300}));
}

TEST(UnitMatFile, text_of_sixteen_bits_becomes_utf8) {
  Buffer body = array_of(4, {1, 5});
  // "aé€" and U+1F600 as a surrogate pair.
  put(body, 17, std::string("a\0\xe9\0\xac\x20\x3d\xd8\x00\xde", 10));
  EXPECT_EQ(read_mat_file(plain_file(body), "f")[0].text, "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
}

TEST(UnitMatFile, numbers_of_every_stored_type_are_read) {
  Buffer body = array_of(6, {2, 1});  // doubles, stored as int16
  put(body, 3, std::string("\xff\xff\x02\x01", 4));
  EXPECT_EQ(read_mat_file(plain_file(body), "f")[0].numbers, (std::vector<double>{-1, 258}));
  body = array_of(7, {1, 1});
  put(body, 7, std::string("\0\0\x20\x40", 4));
  EXPECT_EQ(read_mat_file(plain_file(body), "f")[0].numbers, std::vector<double>{2.5});
}

TEST(UnitMatFile, a_field_that_was_never_set_is_empty) {
  Buffer body = array_of(2, {1, 1});
  put(body, 5, words({4}));
  put(body, 1, std::string("abc\0", 4));
  put(body, 14, "");
  const auto read = read_mat_file(plain_file(body), "f");
  ASSERT_EQ(read[0].elements.size(), 1U);
  EXPECT_EQ(read[0].fields, std::vector<std::string>{"abc"});
  EXPECT_TRUE(read[0].elements[0].numbers.empty());
}

TEST(InteropMatFile, the_genuine_meta_mat_holds_1860_synsets) {
  const auto archive = data_file("imagenet/ILSVRC2012_devkit_t12.tar.gz");
  if (!archive) GTEST_SKIP() << "the devkit is not on this machine";
  Archive devkit(*archive);
  while (devkit.next() && !devkit.name().ends_with("meta.mat")) {
  }
  Buffer bytes;
  devkit.read_all(bytes, 1 << 20);
  const auto variables = read_mat_file(bytes, devkit.place());
  ASSERT_EQ(variables.size(), 1U);
  const MatArray& synsets = variables[0];
  EXPECT_EQ(synsets.name, "synsets");
  EXPECT_EQ(synsets.fields,
            (std::vector<std::string>{"ILSVRC2012_ID", "WNID", "words", "gloss", "num_children",
                                      "children", "wordnet_height", "num_train_images"}));
  ASSERT_EQ(synsets.elements.size(), 1860U * 8);
  int leaves = 0;
  double train_images = 0;
  for (std::size_t at = 0; at < synsets.elements.size(); at += 8) {
    if (synsets.elements[at + 4].numbers.at(0) != 0) continue;
    ++leaves;
    train_images += synsets.elements[at + 7].numbers.at(0);
  }
  EXPECT_EQ(leaves, 1000);
  EXPECT_EQ(train_images, 1281167);
  EXPECT_EQ(synsets.elements[1].text, "n02119789");
  EXPECT_EQ(synsets.elements[2].text, "kit fox, Vulpes macrotis");
  // Written again and read again it says the same.
  const auto again = read_mat_file(write_mat_file(variables), "again");
  EXPECT_EQ(again[0].elements[1859 * 8 + 3].text, synsets.elements[1859 * 8 + 3].text);
  EXPECT_EQ(again[0].elements[1000 * 8 + 5].numbers, (std::vector<double>{1002, 1847}));
}

TEST(HostileMatFile, cut_anywhere_or_with_any_byte_changed_it_is_read_or_an_error) {
  const Buffer whole = write_mat_file({two_synsets()});
  Buffer inner = array_of(2, {1, 2});  // the same without compression, so that damage gets in
  put(inner, 5, words({5}));
  put(inner, 1, std::string("one\0\0two\0\0", 10));
  for (int i = 0; i < 4; ++i) {
    Buffer value = array_of(4, {1, 6});
    put(value, 16, "sixsix");
    put(inner, 14, std::string(as_text(value)));
  }
  for (const Buffer& file : {whole, plain_file(inner)}) {
    for (std::size_t size = 0; size < file.size(); ++size) {
      if (size == 128) continue;  // a header alone is a file without variables
      EXPECT_THROW(read_mat_file(Bytes(file).first(size), "cut.mat"), Error) << size;
    }
    for (std::size_t at = 0; at < file.size(); ++at) {
      for (const std::byte flip : {std::byte{0x01}, std::byte{0x80}, std::byte{0xff}}) {
        Buffer damaged = file;
        damaged[at] ^= flip;
        try {
          read_mat_file(damaged, "damaged.mat");
        } catch (const Error& error) {
          EXPECT_NE(std::string_view(error.what()).find("damaged.mat"), std::string_view::npos);
        }
      }
    }
  }
}

TEST(HostileMatFile, sizes_that_promise_more_than_is_there_allocate_nothing) {
  Buffer numbers = array_of(9, {0x7fffffff, 0x7fffffff, 0x7fffffff});
  put(numbers, 2, "abc");
  expect_error([&] { read_mat_file(plain_file(numbers), "f.mat"); }, {"f.mat", "too large"});
  numbers = array_of(9, {0x7fffffff, 2});
  put(numbers, 2, "abc");
  expect_error([&] { read_mat_file(plain_file(numbers), "f.mat"); },
               {"f.mat", "byte", "expected 4294967294 numbers of 1 bytes, found 3 bytes"});
  Buffer structs = array_of(2, {0x7fffffff, 1});
  put(structs, 5, words({2}));
  put(structs, 1, std::string("a\0", 2));
  expect_error([&] { read_mat_file(plain_file(structs), "f.mat"); }, {"ends inside a tag"});
  Buffer file = write_mat_file({});
  append_le(file, std::uint32_t{14});
  append_le(file, std::uint32_t{0xffffffff});
  expect_error([&] { read_mat_file(file, "f.mat"); }, {"byte 128", "claims 4294967295 bytes"});
}

TEST(HostileMatFile, a_bomb_and_a_tower_of_arrays_are_refused) {
  MatArray bomb = text(std::string(std::size_t{20} << 20, 'x'));
  bomb.name = "bomb";
  expect_error([&] { read_mat_file(write_mat_file({bomb}), "bomb.mat"); },
               {"bomb.mat", "unpacks to more than 16777216 bytes"});
  MatArray tower = numbers({1});
  for (int i = 0; i < 40; ++i) {
    MatArray above;
    above.kind = MatArray::Kind::cells;
    above.dimensions = {1, 1};
    above.elements = {tower};
    tower = above;
  }
  expect_error([&] { read_mat_file(write_mat_file({tower}), "t.mat"); }, {"more than 16 deep"});
  MatArray crowd;
  crowd.kind = MatArray::Kind::cells;
  crowd.dimensions = {1, 300000};
  crowd.elements.assign(300000, numbers({}));
  expect_error([&] { read_mat_file(write_mat_file({crowd}), "c.mat"); }, {"more than"});
}

TEST(UnitMatFile, a_struct_without_fields_is_read_back) {
  MatArray empty;
  empty.kind = MatArray::Kind::structs;
  empty.name = "s";
  empty.dimensions = {1, 1};
  const std::vector<MatArray> read = read_mat_file(write_mat_file({empty}), "f");
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].kind, MatArray::Kind::structs);
  EXPECT_TRUE(read[0].fields.empty());
}

TEST(HostileMatFile, other_files_are_called_what_they_are) {
  expect_error([] { read_mat_file(as_bytes("MATLAB 7.3 MAT-file, HDF5"), "f"); }, {"HDF5", "-v7"});
  expect_error([] { read_mat_file(as_bytes("short"), "f"); }, {"5 bytes", "header of 128"});
  Buffer file = write_mat_file({});
  file[126] = std::byte{'M'};
  file[127] = std::byte{'I'};
  expect_error([&] { read_mat_file(file, "f"); }, {"big-endian"});
  Buffer sparse = array_of(5, {1, 1});
  expect_error([&] { read_mat_file(plain_file(sparse), "f"); }, {"an array of class 5"});
  expect_error([&] { read_mat_file(plain_file(sparse, 9), "f"); }, {"found type 9"});
}

}  // namespace
}  // namespace feedrate::converters
