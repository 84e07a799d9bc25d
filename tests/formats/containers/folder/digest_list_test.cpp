// The list of digests beside a folder, and what verify() makes of it.

#include "formats/containers/folder/digest_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "formats/digests/digest.h"
#include "formats/io/file.h"
#include "formats/verify/verify.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::Example;
using testing::make_examples;
using testing::TempDirectory;
using testing::write_dataset;

// The digests of a folder whose samples are read class by class but were written in another order.
class UnitFolderDigests : public ::testing::Test {
 protected:
  using Lines = std::vector<std::string>;

  UnitFolderDigests() {
    write_dataset(container("folder"), png_codec, set_, examples_);
    std::vector<Sha256> hashes;
    for (const Example& example : examples_) {
      hashes.push_back(sample_digest(example.label, example.image));
    }
    sidecar_.format = "folder";
    sidecar_.count = examples_.size();
    sidecar_.digest = ordered_digest(hashes);
    sidecar_.set_digest = dataset_digest(hashes).set_digest;
    write_sidecar(set_, sidecar_);
  }
  Verification verified() const { return verify(*open_as_found(set_), 2); }
  Lines problems() const {
    Lines lines;
    for (const Finding& finding : verified().findings) {
      lines.push_back(join(finding.place, ": ", finding.problem));
    }
    return lines;
  }
  void expect_problem(std::initializer_list<std::string_view> parts) const {
    const Lines lines = problems();
    ASSERT_FALSE(lines.empty());
    for (const std::string_view part : parts) {
      EXPECT_NE(lines.front().find(part), std::string::npos) << lines.front();
    }
  }
  void change(const fs::path& name, const std::function<void(std::string&)>& how) const {
    std::string content = read_text(set_ / name);
    how(content);
    write_text(set_ / name, content);
  }

  TempDirectory temporary_;
  fs::path set_ = temporary_ / "set";
  std::vector<Example> examples_ = make_examples({4, 4, 1}, 23);
  Sidecar sidecar_;
  fs::path image_ = "00003/00000013.png";
};

TEST_F(UnitFolderDigests, the_order_of_writing_is_known_and_gives_the_digest_of_the_sidecar) {
  const Verification result = verified();
  EXPECT_EQ(problems(), Lines());
  EXPECT_TRUE(result.notes.empty());
  EXPECT_EQ(result.written_digest, sidecar_.digest);
  EXPECT_NE(result.digest.digest, sidecar_.digest);
  sidecar_.digest = "another";
  write_sidecar(set_, sidecar_);
  expect_problem({"states the digest another, found "});
}

TEST_F(UnitFolderDigests, a_line_is_what_xxhsum_prints) {
  const std::string list = read_text(set_ / digest_list_name);
  EXPECT_TRUE(list.starts_with(
      join(file_hash(set_ / "00000/00000000.png").substr(std::string_view("xxh128:").size()),
           "  00000/00000000.png\n")));
  EXPECT_EQ(std::ranges::count(list, '\n'), 23);
}

// The pixels stay the same: only the bytes of the file tell.
TEST_F(UnitFolderDigests, a_file_that_changed_though_its_pixels_did_not_is_named) {
  fs::remove_all(set_);
  write_dataset(container("folder"), jpeg_codec, set_, examples_);
  EXPECT_EQ(problems(), Lines());
  change("00003/00000013.jpg", [](std::string& jpeg) { jpeg.insert(2, "\xff\xfe\0\4hi", 6); });
  expect_problem({"sample 10 (00003/00000013.jpg): ", "expected xxh128:", "(feedrate.xxh128)",
                  "found xxh128:"});
}

TEST_F(UnitFolderDigests, files_that_are_missing_or_were_added_are_named) {
  fs::rename(set_ / image_, set_ / "00003/x.png");
  const Lines lines = problems();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_NE(lines[0].find("feedrate.xxh128: line 14: lists '00003/00000013.png'"),
            std::string::npos);
  EXPECT_NE(lines[1].find("/00003/x.png: is not listed"), std::string::npos);
}

TEST_F(UnitFolderDigests, a_damaged_list_names_its_line) {
  const auto expect_line = [&](const std::function<void(std::string&)>& how, std::string_view line,
                               std::string_view problem) {
    const std::string sound = read_text(set_ / digest_list_name);
    change(digest_list_name, how);
    expect_problem({"feedrate.xxh128: line ", line, problem});
    write_text(set_ / digest_list_name, sound);
  };
  expect_line([](std::string& list) { list[54] = 'x'; }, "line 2:", "32 hex digits");
  expect_line([](std::string& list) { list.pop_back(); }, "line 23:", "cut off");
  expect_line([](std::string& list) { list += list.substr(0, 53); }, "line 24:", "a second time");
  expect_line([](std::string& list) { list = "\n" + list; }, "line 1:", "a path");
  change(digest_list_name, [](std::string& list) { list[0] = list[0] == '0' ? '1' : '0'; });
  expect_problem({"sample 0 (00000/00000000.png): ", "expected xxh128:"});
}

TEST_F(UnitFolderDigests, lines_in_another_order_are_a_finding) {
  change(digest_list_name, [](std::string& list) {
    const std::string first = list.substr(0, 53);
    list = list.substr(53) + first;
  });
  expect_problem({"states the digest ", "found "});
}

TEST_F(UnitFolderDigests,
       a_folder_of_an_older_version_is_read_and_what_cannot_be_compared_is_told) {
  fs::remove(set_ / digest_list_name);
  EXPECT_EQ(problems(), Lines());
  EXPECT_TRUE(verified().notes.empty()) << "its pixels are compared by the set digest";
  EXPECT_EQ(verified().written_digest, "");
  sidecar_.digest = sidecar_.set_digest = "";
  write_sidecar(set_, sidecar_);
  ASSERT_EQ(verified().notes.size(), 1U);
  EXPECT_NE(verified().notes[0].problem.find("holds no digests of its images"), std::string::npos);
  sidecar_.set_digest = "another";
  write_sidecar(set_, sidecar_);
  expect_problem({"set digest another"});
}

}  // namespace
}  // namespace feedrate::formats
