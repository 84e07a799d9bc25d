// The source `folder` in every packaging gives what the unpacked directory gives.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "converters/source.h"
#include "tests/converters/make_archive.h"
#include "tests/support/expect_error.h"
#include "tests/support/in_text.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
namespace {

using namespace testing;
namespace fs = std::filesystem;

std::string png(std::uint32_t number) {
  Buffer encoded;
  png_codec.encode(make_image({4, 5, 3}, number), encoded);
  return std::string(as_text(encoded));
}

// In the order of their paths, as a directory is read.
Entries two_splits() {
  return {{"set/list.txt", "no image"},   {"set/train/a/1.png", png(1)},
          {"set/train/a/2.png", png(2)},  {"set/train/b/deep/3.png", png(3)},
          {"set/train/c/4.JPEG", png(4)}, {"set/val/a/5.png", png(5)},
          {"set/val/c/6.png", png(6)}};
}

Entries under(std::string_view front, const Entries& entries) {
  Entries inner;
  for (const auto& [name, content] : entries) {
    if (name.starts_with(front)) inner.emplace_back(name.substr(front.size()), content);
  }
  return inner;
}

void unpack(const Entries& entries, const fs::path& into) {
  for (const auto& [name, content] : entries) {
    fs::create_directories((into / name).parent_path());
    write(into / name, content);
  }
}

std::vector<std::string> samples(const std::vector<fs::path>& inputs, std::string_view split) {
  const auto stream = source("folder").open(inputs, split);
  std::vector<std::string> lines;
  Sample sample;
  while (stream->next(sample)) {
    lines.push_back(
        join(sample.label, " ", sample.name, " ", hex(stored_digest(sample.label, sample.bytes))));
  }
  EXPECT_EQ(stream->info().size, lines.size());
  lines.push_back(join(stream->info().classes));
  for (const std::string& name : stream->info().class_names.names) lines.push_back(name);
  return lines;
}

class UnitFolderSource : public ::testing::Test {
 protected:
  TempDirectory directory_;
};

TEST_F(UnitFolderSource, every_archive_gives_the_samples_of_the_directory) {
  unpack(two_splits(), directory_ / "unpacked");
  const std::vector<fs::path> unpacked{directory_ / "unpacked" / "set"};
  const Entries nested{{"train.tar.gz", tar_gz(under("set/train/", two_splits()))},
                       {"val.zip", make_archive(under("set/val/", two_splits()),
                                                {ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE})}};
  const Entries by_class{{"train/a.tar", tar(under("set/train/a/", two_splits()))},
                         {"train/b.tar", tar(under("set/train/b/", two_splits()))},
                         {"train/c.tar", tar(under("set/train/c/", two_splits()))},
                         {"val.tar", tar(under("set/val/", two_splits()))}};
  const Packing zipped{ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE};
  const std::vector<std::pair<std::string, std::string>> archives{
      {"plain.tar", tar(two_splits())},
      {"packed.tar.gz", tar_gz(two_splits())},
      {"packed.tar.xz", make_archive(two_splits(), {ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_XZ})},
      {"packed.tar.zst",
       make_archive(two_splits(), {ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_ZSTD})},
      {"packed.zip", make_archive(two_splits(), zipped)},
      {"nested.tar", tar(nested)},
      {"nested.zip", make_archive(nested, zipped)},
      {"classes.zip", make_archive(by_class, zipped)}};
  for (const auto& [name, content] : archives) {
    const std::vector<fs::path> packed{write(directory_ / name, content)};
    EXPECT_EQ(source("folder").splits(packed), (std::vector<std::string>{"train", "val"})) << name;
    for (const char* split : {"train", "val"}) {
      EXPECT_EQ(samples(packed, split), samples(unpacked, split)) << name << " " << split;
    }
  }
  // A label of val is that of train, though val lacks a class.
  EXPECT_EQ(samples(unpacked, "val").at(1).substr(0, 2), "2 ");
}

TEST_F(UnitFolderSource, a_class_that_train_lacks_is_refused_on_disk_too) {
  unpack({{"train/a/1.png", png(1)}, {"train/b/2.png", png(2)}, {"val/yak/3.png", png(3)}},
         directory_ / "two");
  expect_error([&] { samples({directory_ / "two"}, "val"); },
               {"of no class that train/ has", "1 image: val/yak/3.png"});
}

TEST_F(UnitFolderSource, a_list_labels_a_directory_and_an_archive_alike) {
  const Entries flat{{"x/1.png", png(1)}, {"x/2.png", png(2)}, {"y/3.png", png(3)}};
  unpack(flat, directory_ / "flat");
  const fs::path list = write(directory_ / "list.csv", "name,label\n1.png,5\n2.png,0\n3.png,5\n");
  const std::vector<fs::path> packed{write(directory_ / "flat.tar", tar(flat)), list};
  EXPECT_EQ(samples(packed, "train"), samples({directory_ / "flat", list}, "train"));
  EXPECT_EQ(samples(packed, "train").at(0).substr(0, 10), "5 x/1.png ");
  EXPECT_EQ(source("folder").inputs(packed, "train").size(), 2U);
}

TEST_F(UnitFolderSource, splits_and_classes_of_a_directory_are_those_of_its_archive) {
  const Entries odd{{"Train/a/1.png", png(1)},
                    {"Train/b/2.txt", "no image"},
                    {"Train/c/3.png", png(3)},
                    {"Validation/a/4.png", png(4)},
                    {"Validation/c/5.png", png(5)}};
  unpack(odd, directory_ / "odd");
  const std::vector<fs::path> unpacked{directory_ / "odd"};
  const std::vector<fs::path> packed{write(directory_ / "odd.tar", tar(odd))};
  for (const auto& inputs : {unpacked, packed}) {
    EXPECT_EQ(source("folder").splits(inputs), (std::vector<std::string>{"train", "validation"}));
    EXPECT_EQ(samples(inputs, "validation").at(1).substr(0, 8), "2 c/5.pn") << inputs.front();
  }
  EXPECT_EQ(samples(unpacked, "train"), samples(packed, "train"));
  EXPECT_EQ(samples(unpacked, "validation"), samples(packed, "validation"));
  EXPECT_NE(source("folder").inputs(unpacked, "train").at(0).hash,
            source("folder").inputs(unpacked, "validation").at(0).hash);
}

TEST_F(UnitFolderSource, classes_of_directories_alone_make_a_split_too) {
  const Entries deep{{"train/a/x/1.png", png(1)},
                     {"train/b/2.png", png(2)},
                     {"val/a/x/y/3.png", png(3)},
                     {"val/b/x/4.png", png(4)}};
  unpack(deep, directory_ / "deep");
  const std::vector<fs::path> unpacked{directory_ / "deep"};
  EXPECT_EQ(source("folder").splits(unpacked), (std::vector<std::string>{"train", "val"}));
  for (const char* split : {"train", "val"}) {
    EXPECT_EQ(samples(unpacked, split),
              samples({write(directory_ / "deep.tar", tar(deep))}, split));
  }
}

// As published datasets lie on disk after they were unpacked: what is around the classes does not count.
TEST_F(UnitFolderSource, an_unpacked_archive_is_read_as_the_archive) {
  const std::vector<std::pair<std::string, Entries>> layouts{
      {"wrapped splits", under("", two_splits())},
      {"splits below other directories",
       {{"ILSVRC/Annotations/1.xml", "boxes"},
        {"ILSVRC/Data/CLS-LOC/train/n01/1.JPEG", png(1)},
        {"ILSVRC/Data/CLS-LOC/train/n02/2.JPEG", png(2)},
        {"ILSVRC/Data/CLS-LOC/val/n02/3.JPEG", png(3)}}},
      {"classes beside lists",
       {{"images/pie/1.jpg", png(1)}, {"images/rice/2.jpg", png(2)}, {"meta/train.txt", "pie/1"}}},
      {"a zip of a Mac",
       {{"__MACOSX/pets/cat/._1.jpg", "attributes"},
        {"pets/.DS_Store", "x"},
        {"pets/cat/1.jpg", png(1)},
        {"pets/dog/2.jpg", png(2)}}},
      {"hidden directories",
       {{".ipynb_checkpoints/9.png", png(9)},
        {"a/.thumbs/8.png", png(8)},
        {"a/1.png", png(1)},
        {"b/2.png", png(2)}}},
      {"names that sort around the slash",
       {{"a-b/1.png", png(1)},
        {"a/b.png", png(2)},
        {"a/b/2.png", png(3)},
        {"a/b-c/3.png", png(4)}}},
      {"other files",
       {{"a/1.png", png(1)}, {"a/2.gif", "GIF89a"}, {"a/3.jfif", "x"}, {"b/4.png", png(4)}}}};
  for (const auto& [name, entries] : layouts) {
    SCOPED_TRACE(name);
    const fs::path unpacked = directory_ / name;
    unpack(entries, unpacked);
    const std::vector<fs::path> directory{unpacked},
        packed{write(directory_ / (name + ".tar"), tar(entries))};
    const std::vector<std::string> splits = source("folder").splits(packed);
    EXPECT_EQ(source("folder").splits(directory), splits);
    for (const std::string& split : splits) {
      std::vector<std::string> found = samples(directory, split), expected = samples(packed, split);
      std::ranges::sort(found);
      std::ranges::sort(expected);
      EXPECT_EQ(found, expected) << split;
      const auto notes = [&](const std::vector<fs::path>& inputs) {
        std::vector<std::string> all = source("folder").open(inputs, split)->info().notes;
        for (std::string& note : all) note.resize(note.find(": "));  // the name of the first
        return all;
      };
      EXPECT_EQ(notes(directory), notes(packed)) << split;
    }
  }
  EXPECT_EQ(samples({directory_ / "wrapped splits"}, "train").at(0).substr(0, 8), "0 a/1.pn");
  EXPECT_EQ(samples({directory_ / "a zip of a Mac"}, "train").at(1).substr(0, 7), "1 dog/2");
  EXPECT_EQ(samples({directory_ / "hidden directories"}, "train").size(), 2U + 1 + 2);
}

TEST_F(UnitFolderSource, a_directory_is_in_the_order_of_imagefolder_from_any_place_on) {
  unpack({{"set/a-b/1.png", png(1)},
          {"set/a/x.png", png(2)},
          {"set/a/b/2.png", png(3)},
          {"set/a/b-c/3.png", png(4)},
          {"set/a/b/d/4.png", png(5)}},
         directory_ / "set");
  const std::vector<fs::path> inputs{directory_ / "set"};
  const auto stream = source("folder").open(inputs, "train");
  std::vector<std::string> names;
  Sample sample;
  while (stream->next(sample)) names.emplace_back(sample.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a/x.png", "a/b/2.png", "a/b-c/3.png", "a/b/d/4.png",
                                             "a-b/1.png"}));
  ASSERT_TRUE(stream->seekable());
  stream->seek(4);
  ASSERT_TRUE(stream->next(sample));
  EXPECT_EQ(sample.label, 1);
  EXPECT_FALSE(stream->next(sample));
}

TEST_F(UnitFolderSource, images_in_the_directory_of_a_split_have_no_class) {
  const Entries odd{{"train/1.png", png(1)}, {"train/more/deep/2.png", png(2)}};
  unpack(odd, directory_ / "odd");
  for (const fs::path& input : {directory_ / "odd", write(directory_ / "odd.tar", tar(odd))}) {
    expect_error([&] { samples({input}, "train"); },
                 {"in no directory of a class", "1 image: train/1.png"});
  }
}

TEST_F(UnitFolderSource, classes_without_images_count_in_archives_as_on_disk) {
  const Entries sparse{{"a/1.png", png(1)}, {"b/notes.txt", "no image"}, {"c/2.png", png(2)}};
  Entries of_a_mac = sparse;
  of_a_mac.insert(of_a_mac.begin(), {"__MACOSX/._a", "no class"});
  unpack(sparse, directory_ / "sparse");
  const Packing zipped{ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE};
  const fs::path zip = write(directory_ / "sparse.zip", make_archive(sparse, zipped));
  EXPECT_EQ(samples({zip}, "train"), samples({directory_ / "sparse"}, "train"));
  EXPECT_EQ(samples({zip}, "train").at(1).substr(0, 2), "2 ");
  const fs::path mac = write(directory_ / "mac.zip", make_archive(of_a_mac, zipped));
  EXPECT_EQ(samples({mac}, "train"), samples({zip}, "train"));
  const std::vector<std::string> notes =
      source("folder").open(std::vector{zip}, "train")->info().notes;
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes.at(1), "classes without images: 1, the first: b");
}

TEST_F(UnitFolderSource, what_macos_adds_is_no_class_at_any_depth) {
  const Entries set{{"w/a/1.png", png(1)}, {"w/b/2.png", png(2)}};
  Entries of_a_mac = set;
  of_a_mac.insert(of_a_mac.begin(), {"w/__MACOSX/._a", "no class"});
  unpack(of_a_mac, directory_ / "mac");
  const std::vector<std::string> expected =
      samples({write(directory_ / "w.tar", tar(set))}, "train");
  EXPECT_EQ(samples({write(directory_ / "mac.tar", tar(of_a_mac))}, "train"), expected);
  EXPECT_EQ(samples({directory_ / "mac"}, "train"), expected);
}

TEST_F(UnitFolderSource, an_entry_with_a_wrong_checksum_is_a_bad_sample) {
  std::string zip = make_archive({{"a/1.png", png(1)}, {"a/2.png", png(2)}},
                                 {ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE});
  // The CRC that stands behind an entry's data, and the same in the directory.
  const std::size_t descriptor = zip.find("PK\x07\x08"), listed = zip.find("PK\x01\x02");
  ASSERT_NE(descriptor, std::string::npos);
  ASSERT_NE(listed, std::string::npos);
  zip[descriptor + 4] ^= 1;
  zip[listed + 16] ^= 1;
  const auto stream =
      source("folder").open(std::vector{write(directory_ / "damaged.zip", zip)}, "train");
  Sample sample;
  ASSERT_TRUE(stream->next(sample));
  EXPECT_NE(stream->problem().find("damaged.zip:a/1.png"), std::string_view::npos);
  EXPECT_EQ(sample.name, "a/1.png");
  ASSERT_TRUE(stream->next(sample));
  EXPECT_EQ(stream->problem(), "");
  EXPECT_EQ(sample.name, "a/2.png");
  EXPECT_FALSE(stream->next(sample));
}

TEST_F(UnitFolderSource, an_encrypted_entry_is_a_bad_sample) {
  std::string zip = make_archive({{"a/1.png", png(1)}, {"a/2.png", png(2)}},
                                 {ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE});
  // Bit 0 of the flags says so, in front of the entry and in the directory.
  const std::size_t local = zip.find("PK\x03\x04"), listed = zip.find("PK\x01\x02");
  zip[local + 6] |= 1;
  zip[listed + 8] |= 1;
  const auto stream =
      source("folder").open(std::vector{write(directory_ / "secret.zip", zip)}, "train");
  Sample sample;
  ASSERT_TRUE(stream->next(sample));
  EXPECT_EQ(sample.name, "a/1.png");
  EXPECT_NE(stream->problem().find("secret.zip:a/1.png"), std::string_view::npos)
      << stream->problem();
  EXPECT_NE(stream->problem().find("assphrase"), std::string_view::npos) << stream->problem();
  ASSERT_TRUE(stream->next(sample));
  EXPECT_EQ(stream->problem(), "");
  EXPECT_FALSE(stream->next(sample));
}

TEST_F(UnitFolderSource, a_pipe_is_refused) {
  ASSERT_EQ(mkfifo((directory_ / "pipe").c_str(), 0600), 0);
  expect_error([&] { samples({directory_ / "pipe"}, "train"); },
               {"pipe: is not a regular file", "read twice"});
}

TEST_F(UnitFolderSource, notes_know_the_singular) {
  unpack({{"a/1.png", png(1)}, {"a/1.txt", "x"}}, directory_ / "one");
  EXPECT_EQ(source("folder").open(std::vector{directory_ / "one"}, "train")->info().notes,
            std::vector<std::string>{"passed over 1 file that is no image: a/1.txt"});
}

TEST_F(UnitFolderSource, archives_are_known_by_their_endings_in_any_case) {
  const Entries classes{{"set/a.TAR", tar({{"1.png", png(1)}})},
                        {"set/b.Tgz", tar_gz({{"2.png", png(2)}})},
                        {"set/c/3.png", png(3)}};
  EXPECT_EQ(samples({write(directory_ / "set.tar", tar(classes))}, "train").size(), 3U + 1 + 3);
}

TEST_F(UnitFolderSource, a_file_on_disk_that_cannot_be_read_is_a_bad_sample) {
  unpack({{"x/1.png", png(1)}, {"x/4.png", png(4)}}, directory_ / "linked");
  fs::create_symlink("nonesuch", directory_ / "linked" / "x" / "2.png");
  fs::create_directory(directory_ / "linked" / "x" / "3.png");
  const auto stream = source("folder").open(std::vector{directory_ / "linked"}, "train");
  EXPECT_EQ(stream->info().size, 3U) << "a directory is no image, whatever its name";
  Sample sample;
  ASSERT_TRUE(stream->next(sample) && stream->problem().empty());
  ASSERT_TRUE(stream->next(sample));
  EXPECT_TRUE(has(stream->problem(), "x/2.png: is a link to what is not there"));
  ASSERT_TRUE(stream->next(sample) && stream->problem().empty());
}

TEST_F(UnitFolderSource, what_no_stream_can_follow_is_refused) {
  unpack({{"a/1.png", png(1)}}, directory_ / "loop");
  fs::create_directory_symlink("..", directory_ / "loop" / "a" / "up");
  expect_error([&] { samples({directory_ / "loop"}, "train"); }, {"does a link lead back?"});
  const fs::path page = write(directory_ / "a.txt", "some text, no archive");
  expect_error([&] { samples({page}, "train"); }, {"a.txt", "neither a directory nor a tar"});
  expect_error([&] { samples({directory_ / "none"}, "train"); }, {"folder", "expected one"});
  const fs::path out = write(directory_ / "out.tar", tar({{"a/../../b/1.png", png(1)}}));
  expect_error([&] { samples({out}, "train"); }, {"out.tar", "leads out"});
  std::string cut = tar(two_splits());
  cut.resize(cut.size() / 2);
  expect_error([&] { samples({write(directory_ / "cut.tar", cut)}, "train"); }, {"cut.tar"});
  const fs::path text = write(directory_ / "text.tar", tar({{"a.tar", "no tar, some text here"}}));
  expect_error([&] { samples({text}, "train"); }, {"text.tar", "a.tar"});
}

}  // namespace
}  // namespace feedrate::converters
