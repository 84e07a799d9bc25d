#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "formats/io/gzip.h"
#include "formats/verify/verify.h"
#include "tests/support/data.h"
#include "tests/support/expect_error.h"
#include "tests/support/tar_files.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::data_file;
using testing::expect_error;
using testing::make_examples;
using testing::png_bytes;
using testing::TarMembers;
using testing::TempDirectory;
using testing::write_dataset;
using testing::write_tar;

class UnitWebdataset : public ::testing::Test {
 protected:
  using Lines = std::vector<std::string>;

  // "label name" of every sample.
  static Lines samples_in(const fs::path& path) {
    const auto dataset = open_dataset(path);
    Lines samples;
    Scratch scratch;
    for (std::uint64_t i = 0; i < dataset->size(); ++i) {
      const Sample sample = dataset->read(i, scratch);
      samples.push_back(join(sample.label, ' ', sample.name));
    }
    return samples;
  }
  Lines samples_of(const TarMembers& members) {
    write_tar(tar_, members);
    return samples_in(tar_);
  }
  static Lines findings_in(const fs::path& path) {
    Lines findings;
    open_dataset(path)->audit(
        [&](const Finding& found) { findings.push_back(join(found.place, ": ", found.problem)); });
    return findings;
  }
  // Expects one finding about x.tar that contains all of `parts`.
  void expect_finding(std::initializer_list<std::string_view> parts) {
    const Lines findings = findings_in(tar_);
    ASSERT_EQ(findings.size(), 1U);
    for (const std::string_view part : parts) {
      EXPECT_NE(findings[0].find(part), std::string::npos) << findings[0] << "\nsays not " << part;
    }
  }

  TempDirectory temporary_;
  fs::path tar_ = temporary_ / "x.tar";
  fs::path index_ = temporary_ / "x.idx";
  std::string png_ = png_bytes(1);
  TarMembers two_ = {{"a.cls", "3"}, {"a.png", png_}, {"b.cls", "4"}, {"b.png", png_}};
};

TEST_F(UnitWebdataset, a_sample_is_a_class_a_json_and_an_image_of_one_key) {
  write_dataset(container("webdataset"), png_codec, temporary_ / "set",
                make_examples({4, 4, 1}, 2, true));
  const std::string tar = read_text(temporary_ / "set/train-000000.tar");
  const std::string index = read_text(temporary_ / "set/train-000000.idx");
  EXPECT_EQ(tar.size() % 10240, 0U);
  EXPECT_EQ(tar.substr(0, 13), std::string("00000000.cls\0", 13));
  EXPECT_EQ(tar.substr(512, 2), std::string("0\0", 2));
  EXPECT_EQ(tar.substr(1536, 29), std::string("{\"filename\": \"class0/0.png\"}\0", 29));
  EXPECT_EQ(index.substr(0, index.find("png")),
            "v1.2 2\ncls 512 1 00000000.cls json 1536 28 00000000.json ");
  EXPECT_EQ(samples_in(temporary_ / "set"), (Lines{"0 class0/0.png", "1 class1/1.png"}));
}

TEST_F(UnitWebdataset, a_packed_image_is_called_packed_and_one_of_an_older_version_png) {
  write_dataset(container("webdataset"), packed_codec, temporary_ / "set",
                make_examples({16, 16, 3}, 2, true));
  std::string tar = read_text(temporary_ / "set/train-000000.tar");
  const std::string index = read_text(temporary_ / "set/train-000000.idx");
  EXPECT_EQ(index.substr(0, index.find(" packed 2560 ")),
            "v1.2 2\ncls 512 1 00000000.cls json 1536 28 00000000.json");
  EXPECT_EQ(tar.substr(2048, 15), "00000000.packed");
  const auto codec_in = [](const fs::path& path) {
    Scratch scratch;
    return std::string(open_dataset(path)->read(0, scratch).codec->name());
  };
  EXPECT_EQ(codec_in(temporary_ / "set"), "packed");
  const auto dataset = open_dataset(temporary_ / "set");
  Scratch scratch;
  const std::string packed(as_text(dataset->read(0, scratch).bytes));
  write_tar(tar_, {{"00000000.cls", "0"}, {"00000000.png", packed}});
  EXPECT_EQ(codec_in(tar_), "packed");
}

TEST_F(UnitWebdataset, samples_of_other_tools_are_consecutive_files_with_one_key) {
  EXPECT_EQ(samples_of({{"__meta__", "x"},
                        {"d.d/A.CLS", " 3\n"},
                        {"README", "x"},
                        {"d.d/A.Png", png_},
                        {"d.d/A.seg.png", "another picture"},
                        {"00000007.png", png_},
                        {"00000007.cls", "4"},
                        {"c.json", R"({"label": 5})"},
                        {"c.jpeg", png_},
                        {"e.json", R"({"label": 5, "filename": "f/g.jpg"})"},
                        {"e.cls", "6"},
                        {"e.jpg", png_}}),
            (Lines{"3 d.d/A.Png", "4 ", "5 c.jpeg", "6 f/g.jpg"}));
}

TEST_F(UnitWebdataset, boxes_and_several_labels_come_back) {
  const fs::path set = temporary_ / "set";
  fs::create_directory(set);
  const Box boxes[] = {{0.125F, 0.1F, 0.9F, 1}};
  const float labels[] = {2, 0.5F};
  const auto writer = container("webdataset").create(set, {.codec = &png_codec});
  Sample sample;
  sample.bytes = as_bytes(png_);
  sample.codec = &png_codec;
  sample.label = 2;
  sample.boxes = boxes;
  writer->add(sample);
  sample.labels = labels;
  writer->add(sample);
  writer->finish(nullptr);
  const auto dataset = open_dataset(set);
  Scratch scratch;
  const Sample first = dataset->read(0, scratch);
  ASSERT_EQ(first.boxes.size(), 1U);
  EXPECT_EQ(first.boxes[0], boxes[0]);
  EXPECT_TRUE(first.labels.empty() && first.name.empty());
  const Sample second = dataset->read(1, scratch);
  EXPECT_TRUE(std::equal(second.labels.begin(), second.labels.end(), labels, labels + 2));
}

TEST_F(UnitWebdataset, what_makes_no_labelled_image_names_tar_and_key) {
  const auto refused = [&](const TarMembers& members,
                           std::initializer_list<std::string_view> parts) {
    expect_error([&] { samples_of(members); }, parts);
  };
  refused({{"a.png", png_}},
          {"x.tar: sample 0 (key a, byte 0)", "no label", ".png", "expected a .cls"});
  refused({{"a.png", png_}, {"a.txt", "cat"}}, {"no label: its files are .png .txt"});
  refused({{"a.cls", "3"}, {"a.txt", "x"}}, {"no image: its files are .cls .txt"});
  refused({{"a.cls", "-1"}, {"a.png", png_}}, {"'-1' is not a class number"});
  refused({{"a.cls", "2147483648"}, {"a.png", png_}}, {"'2147483648'"});
  refused({{"a.json", R"({"label": 18446744073709551615})"}, {"a.png", png_}},
          {"'18446744073709551615' is not a class number"});
  refused({{"a.cls", ""}, {"a.png", png_}}, {"the .cls is empty"});
  refused({{"a.json", "{"}, {"a.png", png_}}, {".json is damaged"});
  refused({{"a.cls", "1"}, {"a.png", png_}, {"a.PNG", png_}},
          {"key a", "two files", "extension png"});
  refused({{"a.cls", "1"}, {"a.png", "GIF89a"}}, {"key a", "GIF"});
  refused({{"README", "x"}}, {"holds no samples"});
  refused({}, {"holds no samples"});
  two_.emplace_back("c.cls", "3");
  refused(two_, {"x.tar: sample 2 (key c, byte 4096)"});
}

TEST_F(UnitWebdataset, an_image_that_no_codec_knows_can_be_counted) {
  write_tar(tar_, {{"a.cls", "1"}, {"a.gif", "GIF89a"}});
  const auto dataset = open_dataset(tar_);
  EXPECT_EQ(dataset->size(), 1U);
  EXPECT_EQ(dataset->info().codec, "unknown: GIF");
}

TEST_F(UnitWebdataset, a_key_that_comes_back_is_another_sample_and_a_finding) {
  TarMembers members = two_;
  members.insert(members.end(), two_.begin(), two_.begin() + 2);
  EXPECT_EQ(samples_of(members), (Lines{"3 a.png", "4 b.png", "3 a.png"}));
  expect_finding({"x.tar: sample 2", "key a of sample 0 in x.tar"});
}

TEST_F(UnitWebdataset, keys_are_compared_across_shards) {
  write_tar(temporary_ / "s-0.tar", two_);
  write_tar(temporary_ / "s-1.tar", {{"b.cls", "1"}, {"b.png", png_}});
  const Lines findings = findings_in(temporary_.path());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].find("s-1.tar: sample 2: has the key b of sample 1 in s-0.tar"),
            std::string::npos);
}

TEST_F(UnitWebdataset, what_is_passed_over_is_told) {
  two_.emplace_back("LICENSE", "x");
  two_.emplace_back("__info__", "x");
  samples_of(two_);
  expect_finding(
      {"x.tar", "1 member belongs to no sample: it is a link or lacks an extension", "LICENSE"});
}

TEST_F(UnitWebdataset, what_follows_the_end_of_the_archive_is_told) {
  samples_of(two_);
  std::ofstream(tar_, std::ios::app) << "more";
  expect_finding({"x.tar: byte 10240", "follows the end"});
}

// img2dataset writes NaN, which JSON does not know.
TEST_F(UnitWebdataset, a_json_that_is_not_needed_does_not_make_a_sample_bad) {
  for (const char* json : {R"({"similarity": NaN})", "[{\"bbox\": [1]}]", "\"text\"", "null", "",
                           "{\"caption\": \"caf\xe9\"}"}) {
    const TarMembers members{{"a.jpg", png_}, {"a.cls", "3"}, {"a.json", json}};
    EXPECT_EQ(samples_of(members), (Lines{"3 a.jpg"})) << json;
    Scratch scratch;
    EXPECT_TRUE(open_dataset(tar_)->read(0, scratch).extras_damaged) << json;
    write_tar(tar_, {{"a.jpg", png_}, {"a.json", json}});
    expect_error([&] { open_dataset(tar_)->read(0, scratch); }, {"sample 0 (key a", "json"});
  }
  EXPECT_EQ(samples_of({{"a.jpg", png_}, {"a.json", R"({"label": 3})"}}), (Lines{"3 a.jpg"}));
}

// `cat a.tar b.tar` would lose the samples of the second.
TEST_F(UnitWebdataset, a_second_tar_behind_the_end_is_refused) {
  for (const std::string_view padding : {"", "512 zeros"}) {
    samples_of(two_);
    std::string twice = read_text(tar_);
    twice += std::string(padding.empty() ? 0 : 512, '\0') + read_text(tar_);
    write_text(tar_, twice);
    expect_error([&] { open_dataset(tar_); },
                 {padding.empty() ? "x.tar: byte 10240" : "x.tar: byte 10752",
                  "another tar begins behind the end marker"});
  }
}

TEST_F(UnitWebdataset, a_good_index_is_used_in_both_versions) {
  write_tar(tar_, two_);
  const std::string line_a = "cls 512 1 a.cls png 1536 " + std::to_string(png_.size()) + " a.png";
  const std::string line_b = "cls 2560 1 b.cls png 3584 " + std::to_string(png_.size()) + " b.png";
  ASSERT_LE(png_.size(), 512U);
  write_text(index_, "v1.2 2\n" + line_a + "\n" + line_b + "\n");
  EXPECT_EQ(samples_in(tar_), (Lines{"3 a.png", "4 b.png"}));
  EXPECT_TRUE(findings_in(tar_).empty());
  write_text(index_, "v1.1 2\ncls 512 1 png 1536 " + std::to_string(png_.size()) +
                         "\ncls 2560 1 png 3584 " + std::to_string(png_.size()));
  EXPECT_EQ(samples_in(tar_), (Lines{"3 a.png", "4 b.png"}));
  // A damaged header in the middle is found only by walking over all headers or reading that
  // sample.
  std::fstream(tar_, std::ios::in | std::ios::out).seekp(2048) << "X";
  const auto dataset = open_dataset(tar_);
  Scratch scratch;
  EXPECT_EQ(dataset->read(0, scratch).label, 3);
  expect_error([&] { dataset->read(1, scratch); }, {"x.tar: sample 1", "byte 2048: no tar header"});
  fs::remove(index_);
  expect_error([&] { open_dataset(tar_); }, {"x.tar: byte 2048: no tar header"});
}

TEST_F(UnitWebdataset, an_index_can_be_made_anew) {
  two_.insert(two_.begin() + 2, {"a.SEG.Png", "x"});
  two_.emplace_back("LICENSE", "x");
  write_tar(tar_, two_);
  EXPECT_EQ(container("webdataset").write_index(tar_), std::vector{index_});
  const std::string size = std::to_string(png_.size());
  EXPECT_EQ(read_text(index_), "v1.2 2\ncls 512 1 a.cls png 1536 " + size +
                                   " a.png SEG.Png 2560 1 a.SEG.Png\n"
                                   "cls 3584 1 b.cls png 4608 " +
                                   size + " b.png\n");
  EXPECT_EQ(samples_in(tar_), (Lines{"3 a.png", "4 b.png"}));
  two_.push_back({"c d.cls", "1"});
  write_tar(tar_, two_);
  expect_error([&] { container("webdataset").write_index(tar_); },
               {"x.tar: the name 'c d.cls' holds a space"});
  EXPECT_TRUE(fs::exists(index_)) << "what was there stays";
  GzipFile gzip(temporary_ / "packed.tar.gz");
  gzip.write(as_bytes(read_text(tar_)));
  gzip.close();
  expect_error([&] { container("webdataset").write_index(temporary_ / "packed.tar.gz"); },
               {"packed.tar.gz", "compressed"});
}

TEST_F(UnitWebdataset, an_index_that_cannot_be_right_is_told_and_not_used) {
  write_tar(tar_, two_);
  for (const std::string_view text : {"v1.2 1\ncls 512 1 a.cls\n", "v1.1 1\ncls 512 1\n",
                                      "nonsense", "v1.1 1\nx 512 99999999\n"}) {
    write_text(index_, text);
    EXPECT_EQ(samples_in(tar_), (Lines{"3 a.png", "4 b.png"})) << text;
    expect_finding({"x.idx: is not used: "});
  }
}

TEST_F(UnitWebdataset, an_index_that_lies_is_met_when_the_sample_is_read) {
  write_tar(tar_, two_);
  const std::string size = std::to_string(png_.size());
  for (const std::string& line :
       {"cls 512 2 png 1536 " + size + "\ncls 2560 1 png 3584 " + size,     // a size
        "cls 512 1\npng 1536 " + size + " cls 2560 1 png 3584 " + size,     // another grouping
        "png 1536 " + size + "\ncls 2560 1 png 3584 " + size,               // a file left out
        "cls 512 1 png 1536 " + size + " cls 2560 1\npng 3584 " + size}) {  // two keys in one
    write_text(index_, "v1.1 2\n" + line + "\n");
    expect_error([&] { samples_in(tar_); },
                 {"x.tar: sample ", "x.idx does not agree", "remove it"});
  }
}

TEST_F(UnitWebdataset, compressed_shards_are_read) {
  write_tar(tar_, two_);
  GzipFile gzip(temporary_ / "packed.tar.gz");
  gzip.write(as_bytes(read_text(tar_)));
  gzip.close();
  EXPECT_EQ(samples_in(temporary_ / "packed.tar.gz"), (Lines{"3 a.png", "4 b.png"}));
  fs::resize_file(temporary_ / "packed.tar.gz", 100);
  expect_error([&] { open_dataset(temporary_ / "packed.tar.gz"); }, {"packed.tar.gz", "cut off"});
}

TEST_F(UnitWebdataset, a_pattern_names_shards_that_are_there) {
  for (const char* name : {"a-008.tar", "a-009.tar", "a-010.tar"})
    write_tar(temporary_ / name, two_);
  EXPECT_EQ(open_dataset(temporary_ / "a-{009..010}.tar")->size(), 4U);
  EXPECT_EQ(open_dataset(temporary_ / "a-008.tar")->size(), 2U);
  EXPECT_EQ(open_dataset(temporary_.path())->size(), 6U);
  expect_error([&] { open_dataset(temporary_ / "a-{009..011}.tar"); },
               {"a-011.tar", "No such file"});
}

TEST_F(UnitWebdataset, a_name_that_is_not_utf8_cannot_be_written) {
  auto examples = make_examples({4, 4, 1}, 1);
  examples[0].name = "latin1 caf\xe9.png";
  expect_error(
      [&] { write_dataset(container("webdataset"), png_codec, temporary_ / "bad", examples); },
      {"latin1 caf", "is not UTF-8", "rename"});
}

TEST_F(UnitWebdataset, a_negative_label_cannot_be_written) {
  auto examples = make_examples({4, 4, 1}, 1);
  examples[0].label = -3;
  expect_error(
      [&] { write_dataset(container("webdataset"), png_codec, temporary_ / "bad", examples); },
      {"/bad", "sample 0", "-3"});
}

TEST(HostileWebdataset, a_tar_without_index_is_damaged_in_every_byte) {
  TempDirectory temporary;
  const fs::path tar = temporary / "x.tar";
  write_tar(tar, {{"a.cls", "3"}, {"a.json", R"({"filename": "n"})"}, {"a.png", png_bytes(1)}});
  const std::string sound = read_text(tar);
  const auto digest = verify(*open_dataset(tar), 1).digest.digest;
  std::mt19937 random(7);
  for (std::size_t at = 0; at < 5 * 512; ++at) {
    std::string damaged = sound;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 + random() % 255));
    fs::remove(tar);
    std::ofstream(tar) << damaged;
    try {
      const Verification result = verify(*open_dataset(tar), 1);
      const bool in_label = at == 512;  // which nothing protects
      EXPECT_TRUE(!result.findings.empty() || result.digest.digest == digest || in_label) << at;
    } catch (const Error& error) {
      EXPECT_NE(std::string_view(error.what()).find(tar.string()), std::string_view::npos);
    }
  }
}

TEST(InteropWebdataset, the_library_s_own_sample_is_read) {
  const auto file = data_file("vectors/webdataset/sample.tgz");
  if (!file) GTEST_SKIP() << "the vectors of other tools are not on this machine (FEEDRATE_DATA)";
  const auto dataset = open_dataset(*file);
  EXPECT_EQ(dataset->size(), 90U);
  EXPECT_EQ(dataset->info().codec, "png");
  EXPECT_EQ(dataset->info().shape, (Shape{28, 28, 1}));
  const Verification result = verify(*dataset, 2);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(result.class_counts, (std::vector<std::uint64_t>{7, 12, 7, 11, 12, 6, 10, 14, 2, 9}));
  EXPECT_EQ(result.digest.digest,
            "f35563e8714f5ce563de48944ae4ee5389384fbd5bf07959ec1e9d0cce3eddad");
  Scratch scratch;
  EXPECT_EQ(dataset->read(2, scratch).name, "12.png");
}

TEST(InteropWebdataset, a_tar_of_other_things_is_refused_with_its_first_key) {
  const auto file = data_file("vectors/webdataset/compressed.tar");
  if (!file) GTEST_SKIP() << "the vectors of other tools are not on this machine (FEEDRATE_DATA)";
  expect_error([&] { open_dataset(*file); },
               {"compressed.tar: sample 0 (key compressed/0001", "no image", ".txt.gz"});
}

}  // namespace
}  // namespace feedrate::formats
