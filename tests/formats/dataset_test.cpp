#include "formats/dataset.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/io/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;
using testing::make_examples;
using testing::TempDirectory;
using testing::write_dataset;

TEST(UnitDataset, the_files_of_a_dataset_are_accepted_by_themselves) {
  TempDirectory temporary;
  const auto examples = make_examples({8, 8, 1}, 3);
  write_dataset(container("lmdb"), raw_codec, temporary / "l", examples);
  write_dataset(container("recordio"), png_codec, temporary / "r", examples);
  write_dataset(container("png-map"), png_codec, temporary / "p", examples);
  for (const char* file : {"l/data.mdb", "r/data.rec", "p/train_map.txt"}) {
    EXPECT_EQ(open_dataset(temporary / file)->size(), 3U) << file;
  }
}

// As a clone without `git lfs pull` has it.
TEST(UnitDataset, a_git_lfs_pointer_is_named_wherever_data_is_expected) {
  const TempDirectory temporary;
  for (const char* name :
       {"data.mdb", "a.rec", "a.tfrecord", "train-00000-of-00001", "a.tar", "a.tar.gz", "a.parquet",
        "train-00000-of-00001.parquet", "index.json", "c/a.jpg", "any"}) {
    for (const char* place : {"file", "directory"}) {
      const fs::path directory = temporary / place / name;
      const fs::path file = directory / name;
      fs::create_directories(file.parent_path());
      write_text(file, "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n");
      const fs::path opened = *place == 'f' ? file : directory;
      expect_error(
          [&] {
            Scratch scratch;
            open_dataset(opened)->read(0, scratch);
          },
          {"Git LFS pointer", "git lfs pull", file.filename().string()});
    }
  }
}

TEST(UnitDataset, files_of_other_names_are_known_by_their_content) {
  TempDirectory temporary;
  const auto examples = make_examples({8, 8, 1}, 3);
  write_dataset(container("lmdb"), raw_codec, temporary / "l", examples);
  write_dataset(container("recordio"), png_codec, temporary / "r", examples);
  fs::rename(temporary / "l/data.mdb", temporary / "some.database");
  fs::rename(temporary / "r/data.rec", temporary / "some.records");
  EXPECT_EQ(open_dataset(temporary / "some.database")->info().format, "lmdb");
  EXPECT_EQ(open_dataset(temporary / "some.records")->info().format, "recordio");
}

TEST(UnitDataset, classes_come_from_the_sidecar_or_from_the_labels) {
  TempDirectory temporary;
  write_dataset(container("lmdb"), raw_codec, temporary / "set", make_examples({8, 8, 1}, 7));
  EXPECT_EQ(count_classes(*open_dataset(temporary / "set")), 7U);
  Sidecar sidecar;
  sidecar.classes = 10;
  write_sidecar(temporary / "set", sidecar);
  EXPECT_EQ(count_classes(*open_dataset(temporary / "set")), 10U);
}

TEST(HostileDataset, what_needs_files_refuses_a_url_without_its_secrets) {
  for (const char* url :
       {"https://user:secret@host/sets/train-{000..001}.tar", "s3://bucket/sets",
        "https://host/train.parquet?X-Amz-Signature=secret", "http://host/set#secret",
        "hf://datasets/a@b/train.parquet?image=secret"}) {
    try {
      expect_local(url);
      FAIL() << url;
    } catch (const Error& error) {
      const std::string what = error.what();
      EXPECT_NE(what.find("is a URL, expected a path"), std::string::npos) << what;
      EXPECT_EQ(what.find("secret"), std::string::npos) << what;
    }
  }
  expect_error([] { container_at("https://user:secret@host/sets/train-{000..001}.tar"); },
               {"https://host/sets/train-{000..001}.tar: "});
  expect_error([] { open_dataset("hf://datasets/a@b/train?token=secret"); },
               {"hf://datasets/a@b/train: expected a URL that begins with https://"});
}

TEST(UnitDataset, a_directory_whose_name_ends_in_a_colon_is_no_url) {
  TempDirectory temporary;
  write_dataset(container("lmdb"), raw_codec, temporary / "s3:" / "set",
                make_examples({8, 8, 1}, 3));
  EXPECT_EQ(open_dataset(temporary.path().string() + "/s3://set")->size(), 3U);
  const fs::path before = fs::current_path();
  fs::current_path(temporary.path());
  EXPECT_EQ(open_dataset("s3://set")->size(), 3U);
  fs::current_path(before);
}

TEST(HostileDataset, a_file_is_compared_with_the_sidecar_that_describes_it) {
  TempDirectory temporary;
  const auto examples = make_examples({8, 8, 1}, 3);
  for (const auto& [format, file] :
       {std::pair("recordio", "data.rec"), std::pair("png-map", "train_map.txt"),
        std::pair("tfrecord", "train-00000-of-00001"),
        std::pair("webdataset", "train-000000.tar")}) {
    const fs::path set = temporary / format;
    write_dataset(container(format), png_codec, set, examples);
    Sidecar sidecar;
    sidecar.format = format;
    sidecar.count = 4;
    write_sidecar(set, sidecar);
    for (const fs::path& path : {set, set / file})
      expect_error([&] { open_dataset(path); }, {"expected the 4 samples", "found 3"});
    sidecar.count = 3;
    write_sidecar(set, sidecar);
    EXPECT_EQ(open_dataset(set / file)->size(), 3U);
  }
}

TEST(UnitDataset, another_file_beside_a_dataset_is_not_compared_with_its_sidecar) {
  TempDirectory temporary;
  write_dataset(container("recordio"), png_codec, temporary / "r", make_examples({8, 8, 1}, 3));
  Sidecar sidecar;
  sidecar.format = "recordio";
  sidecar.count = 3;
  write_sidecar(temporary / "r", sidecar);
  write_dataset(container("recordio"), png_codec, temporary / "s", make_examples({8, 8, 1}, 5));
  for (const char* extension : {".rec", ".idx", ".lst"})
    fs::copy_file(temporary / (std::string("s/data") + extension),
                  temporary / (std::string("r/other") + extension));
  EXPECT_EQ(open_dataset(temporary / "r/other.rec")->size(), 5U);
  EXPECT_EQ(open_dataset(temporary / "r/data.rec")->size(), 3U);
}

TEST(HostileDataset, a_damaged_first_sample_does_not_keep_the_others_from_being_read) {
  const TempDirectory directory;
  for (const char* format : {"lmdb", "recordio", "webdataset", "png-map", "folder"}) {
    const fs::path path = directory / format;
    write_dataset(container(format), png_codec, path, make_examples({28, 30, 1}, 20, true));
    const SamplePlace first = open_dataset(path)->place(0);
    // Overwrites the width in the first PNG's header, whose CRC then does not match.
    std::string content = read_text(first.file);
    const auto header = content.find("IHDR", first.offset);
    ASSERT_NE(header, std::string::npos) << format;
    content[header + 7] ^= 1;
    write_text(first.file, content);
    const auto dataset = open_dataset(path);
    EXPECT_EQ(dataset->info().shape, (Shape{28, 30, 1})) << format;
    Scratch scratch;
    EXPECT_NO_THROW(dataset->read(1, scratch)) << format;
    expect_error([&] { dataset->read(0, scratch); }, {first.file.filename().string()});
  }
}

TEST(HostileDataset, what_is_no_dataset_is_told_what_was_looked_for) {
  TempDirectory temporary;
  expect_error([&] { open_dataset(temporary / "none"); }, {"/none", "no such file"});
  expect_error([&] { open_dataset(temporary.path()); },
               {"holds no dataset; looked for lmdb, recordio", "data.mdb"});
  write_text(temporary / "page.html", "<html>");
  expect_error([&] { open_dataset(temporary / "page.html"); }, {"page.html", "not a dataset file"});
}

TEST(HostileDataset, a_named_pipe_is_refused_and_not_waited_for) {
  TempDirectory temporary;
  ASSERT_EQ(mkfifo((temporary / "data.rec").c_str(), 0600), 0);
  expect_error([&] { open_dataset(temporary / "data.rec"); }, {"data.rec", "not a dataset file"});
  expect_error([&] { open_dataset(temporary.path()); }, {"data.rec", "not a regular file"});
  ASSERT_EQ(mkfifo((temporary / "shards-000000.tar").c_str(), 0600), 0);
  fs::remove(temporary / "data.rec");
  expect_error([&] { open_dataset(temporary.path()); }, {"000000.tar", "not a regular file"});
}

TEST(HostileDataset, a_directory_of_splits_names_them) {
  TempDirectory temporary;
  const auto examples = make_examples({8, 8, 1}, 3);
  write_dataset(container("lmdb"), raw_codec, temporary / "out/train", examples);
  write_dataset(container("lmdb"), raw_codec, temporary / "out/test", examples);
  expect_error([&] { open_dataset(temporary / "out"); }, {"/out", "holds some: test, train"});
}

TEST(HostileDataset, a_directory_without_permission_is_named) {
  if (geteuid() == 0) GTEST_SKIP() << "root may look everywhere; run as another user to test it";
  TempDirectory temporary;
  write_dataset(container("lmdb"), raw_codec, temporary / "set", make_examples({8, 8, 1}, 3));
  fs::permissions(temporary / "set", fs::perms::none);
  expect_error([&] { open_dataset(temporary / "set"); }, {"/set", "Permission denied"});
  fs::permissions(temporary / "set", fs::perms::owner_all);
}

}  // namespace
}  // namespace feedrate::formats
